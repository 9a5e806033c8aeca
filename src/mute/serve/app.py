"""The HTTP API: LibreTranslate's, and a look inside the units."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Scope

from mute import __version__
from mute.serve.bodies import RefusalError
from mute.serve.calls import Server, routes
from mute.serve.metrics import CountRequests

STATIC = Path(__file__).parent / "static"
PAGE_HEADERS = {
    # Scripts, styles and calls of this server only, and in no frame of another's page.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # The page's files belong together: after an upgrade a browser may not mix old and new ones.
    "Cache-Control": "no-cache",
}


class PageFiles(StaticFiles):
    """The page's files, with the headers that guard it."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """A file, or that it has not changed."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers.update(PAGE_HEADERS)
        return response


def create_app(server: Server, cors: Sequence[str] = ()) -> FastAPI:
    """The API and the page of a server.

    Args:
        server: is closed when the app shuts down
        cors: origins whose pages may use the API, beside the server's own
    """

    @asynccontextmanager
    async def until_all_is_done(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(server.batcher.close)

    app = FastAPI(
        title="mute",
        version=__version__,
        summary="Machine translation by Multi-Unit Transformers",
        lifespan=until_all_is_done,
        redoc_url=None,
    )
    app.state.server = server
    app.include_router(routes)
    paths = {route.path for route in routes.routes if hasattr(route, "path")}
    if cors:
        app.add_middleware(
            CORSMiddleware, allow_origins=cors, allow_methods=["*"], allow_headers=["*"]
        )
    app.add_middleware(CountRequests, metrics=server.metrics, paths={"/", *paths})
    app.add_exception_handler(RefusalError, _refuse)
    app.add_exception_handler(HTTPException, _explain)
    app.add_exception_handler(Exception, _apologise)
    app.mount("/static", PageFiles(directory=STATIC))
    app.add_api_route("/", _page, methods=["GET", "HEAD"], include_in_schema=False)
    return app


async def _page() -> FileResponse:
    return FileResponse(STATIC / "index.html", headers=PAGE_HEADERS)


def _problem(status: int, message: str, headers: Any = None) -> JSONResponse:
    return JSONResponse({"error": message}, status, headers)


async def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusalError)
    return _problem(error.status, str(error), error.headers)


async def _explain(_request: Request, error: Exception) -> Response:
    """Answer what the framework itself refuses in the same shape: no such path or method."""
    assert isinstance(error, HTTPException)
    return _problem(error.status_code, str(error.detail), error.headers)


async def _apologise(_request: Request, _error: Exception) -> Response:
    """Tell a stranger nothing of the inside; the log has the traceback."""
    return _problem(500, "an error in the server; its log says more")
