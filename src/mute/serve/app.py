"""The HTTP API: LibreTranslate's, and a look inside the units."""

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

from mute import __version__
from mute.serve.bodies import RefusalError
from mute.serve.calls import Server, routes
from mute.serve.metrics import CountRequests

STATIC = Path(__file__).parent / "static"


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
    if STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=STATIC))
        app.add_api_route("/", _page, include_in_schema=False)
    return app


async def _page() -> FileResponse:
    return FileResponse(STATIC / "index.html")


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
