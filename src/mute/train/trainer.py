"""Training: fit → step → forward and backward.

All randomness of a step (dropout, bias) is a function of the run's seed, the step and the number
of the batch in it. So a resumed run repeats what an uninterrupted one does, to the bit, and two
processes with one batch each compute what one process does with two.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import torch
from torch import Tensor

from mute.config import TrainConfig
from mute.data.batching import Batch, BatchStream
from mute.errors import MuteError, NotFiniteError
from mute.model.folder import load_weights
from mute.model.kernels import missed
from mute.model.transformer import Transformer
from mute.probe import bfloat16_is_safe
from mute.runtime import seed_of
from mute.train.average import WeightAverage
from mute.train.checkpoint import (
    TrainState,
    checkpoints,
    load_together,
    remove_old,
    save_checkpoint,
    update_state,
)
from mute.train.group import Group, without_exchange
from mute.train.interruption import (
    listening_for_signals,
    memory_advice,
    telling_of_memory,
)
from mute.train.log import LOG, forget_after
from mute.train.objective import Objective
from mute.train.optimizer import load_moments, make_optimizer, moments
from mute.train.progress import Progress, Silence
from mute.train.schedule import doubts, learning_rate

LOG_EVERY = 50
"""Steps between two records of the training loss."""

Validator = Callable[[Transformer], Mapping[str, float]]
"""Measures a model on the development set; "bleu" decides which checkpoint is best."""
Keeper = Callable[[Mapping[str, Tensor]], None]
"""Keeps the weights of the best model so far."""


class Trainer:
    """One run, from its first step or from its last checkpoint.

    Args:
        model: with the weights to start from
        config: how to train
        group: the processes that train together
        stream: the batches of the training pairs
        name_line: the file and line a pair comes from, for messages
    """

    def __init__(
        self,
        model: Transformer,
        config: TrainConfig,
        group: Group,
        stream: BatchStream,
        name_line: Callable[[int], str],
    ) -> None:
        self.model, self.config, self.group = model, config, group
        self.run = Path(config.run)
        self.stream, self.name_line = stream, name_line
        self.objective = group.wrap(Objective(model, config.label_smoothing, config.r_drop))
        self.parameters = [value for value in model.parameters() if value.requires_grad]
        self.optimizer = make_optimizer(self.parameters, config)
        self.average = WeightAverage(model, config.average_decay) if config.average_decay else None
        self.state = TrainState(batches_per_step=config.accumulate * group.size)
        self.progress = Silence()
        self.asked_to_stop = False  # this process was
        self.stopping = False  # all processes agree to
        group.together(self._check_precision)

    def fit(
        self, validate: Validator, keep_best: Keeper, complaints: Sequence[str] = ()
    ) -> TrainState:
        """Train until the steps are done, patience ends, or SIGTERM or Ctrl-C asks to stop.

        Args:
            validate: measures the averaged weights
            keep_best: is given them when they are the best so far
            complaints: told first, with this run's own

        Raises:
            MuteError: the loss was not finite for too many steps in a row, or a checkpoint
                cannot be saved.
        """
        complaints = [
            *complaints,
            *missed(self.group.device),
            *doubts(self.config, self.model.config.d_model),
        ]
        if self.group.leads:
            self.progress = Progress(self.run, self.state.step, self.config.steps)
        for complaint in complaints:
            self.progress.tell(complaint)
        batches = self._own_batches()
        try:
            with listening_for_signals(self.ask_to_stop):
                # An earlier process may have been killed in the middle of a validation.
                self._validate_if_due(validate, keep_best)
                while not self._done():
                    self.step(next(batches))
                    # Before a validation, too: it takes long, and a machine may be gone by then.
                    due = map(self._due, (self.config.save_every, self.config.validate_every))
                    if any(due) or self.stopping:
                        self.save()
                    self._validate_if_due(validate, keep_best)
                # Someone may have asked in the last validation, after which there is no step.
                self.stopping = self.group.sum(self.asked_to_stop)[0] > 0
            where = f"step {self.state.step:,} of {self.config.steps:,}"
            if self.stopping:
                self.progress.tell(f"stopped at {where}; the same command goes on")
            elif self._out_of_patience():
                since = self.state.validations_since_best
                self.progress.tell(
                    f"ended at {where}, after {since} validations in a row without a better BLEU; "
                    f"to go on, raise train.patience"
                )
        finally:
            self.progress.close()
        return self.state

    def _validate_if_due(self, validate: Validator, keep_best: Keeper) -> None:
        """Validate a step that is saved, unless that was done, and save what it has changed.

        A run that is asked to stop leaves it to the one that goes on: who asks may not wait.
        """
        if self.stopping or self.state.validated_step == self.state.step:
            return
        if self._due(self.config.validate_every):
            self.validate(validate, keep_best)
            self.group.lead(lambda: update_state(self.run / "checkpoints", self.state))

    def ask_to_stop(self) -> None:
        """Have the run finish the next step, in which all processes hear of it, save and leave."""
        self.asked_to_stop = True

    def step(self, batches: list[Batch]) -> None:
        """One optimizer step on this process's batches, if its gradient is finite."""
        local_tokens = sum(batch.target_tokens for batch in batches)
        tokens, stops = self.group.sum(local_tokens, self.asked_to_stop)
        self.stopping = stops > 0
        if not self.model.training:  # else all its parts would be told so at every step
            self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        likelihood = self._forward_backward(batches, tokens)
        norm = torch.nn.utils.get_total_norm(
            [value.grad for value in self.parameters if value.grad is not None]
        )
        self.state.step += 1
        if bool(norm.isfinite()):
            with memory_advice(batches[-1], self.config.batch_tokens):  # for Adam's moments
                self._update(norm)
        else:
            self._refuse(batches)
        self.progress.advance(self.state.step, int(tokens))
        if self.state.step % LOG_EVERY == 0 or self.state.step == 1:
            (total,) = self.group.sum(float(likelihood))
            padding = sum(batch.padding for batch in batches) / len(batches)
            self._record(total / tokens, float(norm), padding)

    def _forward_backward(self, batches: list[Batch], tokens: float) -> Tensor:
        """Leave the gradient of the mean loss over all processes' `tokens`; sum the likelihood."""
        share = self.group.size / tokens  # the exchange of gradients averages over processes
        total = torch.zeros((), device=self.group.device)
        for index, batch in enumerate(batches):
            number = index * self.group.size + self.group.rank
            seed = seed_of(self.config.seed, self.state.step, number)
            torch.manual_seed(seed)
            generator = torch.Generator().manual_seed(seed)
            last = index == len(batches) - 1
            exchange = nullcontext() if last else without_exchange(self.objective)
            with exchange, memory_advice(batch, self.config.batch_tokens):
                with self._autocast():
                    smoothed, likelihood, penalty = self.objective(batch, generator)
                loss = smoothed * share + self.config.penalty_weight * penalty / len(batches)
                loss.backward()
            total += likelihood.detach()
        return total

    def _update(self, norm: Tensor) -> None:
        if 0 < self.config.clip < float(norm):  # else a pass over all gradients changes nothing
            torch.nn.utils.clip_grads_with_norm_(self.parameters, self.config.clip, norm)
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        self.optimizer.step()
        self.model.project_()
        if self.average:
            self.average.update(self.state.step)
        self.state.bad_steps_in_a_row = 0

    def _refuse(self, batches: list[Batch]) -> None:
        """Leave the weights alone after a step that is not finite, and say what was in it."""
        self.state.bad_steps += 1
        self.state.bad_steps_in_a_row += 1
        own = [self.name_line(int(index)) for batch in batches for index in batch.indices]
        lines = self.group.gather(own)
        in_a_row = self.state.bad_steps_in_a_row
        self.progress.record("refused", self.state.step, {"in_a_row": in_a_row, "lines": lines})
        self.progress.tell(
            f"step {self.state.step}: the loss or its gradient is not finite, so the step is not "
            f"applied; its lines are in {LOG}"
        )
        self.group.together(self._check_it_goes_on)

    def _check_it_goes_on(self) -> None:
        in_a_row = self.state.bad_steps_in_a_row
        if in_a_row >= self.config.max_bad_steps:
            saved = checkpoints(self.run / "checkpoints")
            intact = "the last checkpoint is intact: " if saved else ""
            raise MuteError(
                f"the loss was not finite in {in_a_row} steps in a row, up to step "
                f"{self.state.step}; {intact}look at the lines in "
                f"{self.run / LOG}, or lower train.learning_rate or set train.clip in a "
                f"new train.run"
            )

    def validate(self, validate: Validator, keep_best: Keeper) -> None:
        """Measure the averaged weights, and keep them if they are the best so far."""
        measured = self.group.lead(lambda: self._measured(validate, keep_best)) or {"bleu": 0.0}
        score = self.group.follow(measured["bleu"])
        self.state.validations_since_best += 1
        if score > self.state.best_score:
            self.state.validations_since_best = 0
        if score >= self.state.best_score:  # of equals the last, which has seen more
            self.state.best_score, self.state.best_step = score, self.state.step
        self.state.validated_step = self.state.step
        facts = {**measured, "best_bleu": self.state.best_score}
        self.progress.record("validation", self.state.step, facts)

    def _measured(self, validate: Validator, keep_best: Keeper) -> Mapping[str, float]:
        with self.average.applied() if self.average else nullcontext():
            self.model.eval()
            advice = (
                f"out of memory in the validation after step {self.state.step:,}, which is saved; "
                f"shorten the longest lines of data.dev, in a new train.run, or find more memory"
            )
            try:
                with telling_of_memory(advice):
                    measured = validate(self.model)
            except NotFiniteError as error:
                raise MuteError(
                    f"{self.run}: after step {self.state.step} {error}; lower "
                    f"train.learning_rate or set train.clip, in a new train.run"
                ) from None
            self.progress.record_units(self.state.step, self.model)
            if measured["bleu"] >= self.state.best_score:
                keep_best(dict(self.model.named_parameters()))
        return measured

    def save(self) -> None:
        """Write a checkpoint, and let go of those that are too old."""
        self.state.planned = self.state.step % self.config.save_every == 0
        self.group.lead(self._write_checkpoint)

    def _write_checkpoint(self) -> None:
        tensors = {
            "weights": {name: value.detach() for name, value in self.model.named_parameters()},
            "optimizer": moments(self.optimizer, self.model),
        }
        if self.average:
            tensors["average"] = self.average.weights
        save_checkpoint(self.run / "checkpoints", self.state, tensors)
        remove_old(self.run / "checkpoints", self.config.keep, self.state.step)

    def resume(self) -> list[str]:
        """Go on from the last whole checkpoint, if there is one; say which ones are not whole.

        Raises:
            MuteError: a step would have more or fewer batches than before.
        """
        found = load_together(self.run / "checkpoints", self.group)
        reached = found.state if found else TrainState()
        now = self.state.batches_per_step
        self.group.together(lambda: self._check_step_size(reached.batches_per_step, now))
        self.group.lead(lambda: forget_after(self.run, reached))
        if found is None:
            return []
        self.state = reached
        self.state.batches_per_step = now
        load_weights(self.model, found.tensors["weights"])
        if self.average:
            self.average.load(found.tensors["average"])
        load_moments(self.optimizer, self.model, found.tensors["optimizer"])
        return found.complaints

    def forget_best(self) -> None:
        """Look for the best model anew, beginning with this step: that of earlier ones is lost."""
        self.state.best_score, self.state.best_step = TrainState.best_score, 0
        self.state.validated_step = self.state.validations_since_best = 0

    def _check_step_size(self, before: int, now: int) -> None:
        if before in (0, now):
            return
        size = self.group.size
        fitting = f"set train.accumulate={before // size}"
        advice = f"start as many processes as divide {before}" if before % size else fitting
        raise MuteError(
            f"{self.run}: the batches of a step (processes × train.accumulate) were {before} and "
            f"would now be {now}; {advice}, or choose another train.run"
        )

    def _own_batches(self) -> Iterator[list[Batch]]:
        """For every step, this process's share of the stream; moves the state's position on."""
        stream = self.stream.after(self.state.position)
        while True:
            own = []
            for number in range(self.state.batches_per_step):
                indices, position = next(stream)
                if number % self.group.size == self.group.rank:
                    batch = self.stream.load(indices, position.epoch)
                    own.append(batch.to(self.group.device))
            self.state.position = position
            yield own

    def _record(self, loss: float, norm: float, padding: float) -> None:
        facts = {
            "loss": loss,
            "perplexity": float(torch.tensor(loss).exp()),
            "penalty": float(self.model.penalty().detach()),
            "gradient_norm": norm,
            "learning_rate": self._learning_rate(),
            "tokens_per_second": self.progress.speed(),
            "padding": padding,
            "epoch": self.state.position.epoch,
        }
        self.progress.record("train", self.state.step, facts)

    def _learning_rate(self) -> float:
        return learning_rate(self.config, self.model.config.d_model, self.state.step)

    def _due(self, every: int) -> bool:
        return self.state.step % every == 0 or self.state.step >= self.config.steps

    def _done(self) -> bool:
        ended = self._out_of_patience() or self.state.step >= self.config.steps
        return self.stopping or ended

    def _out_of_patience(self) -> bool:
        return 0 < self.config.patience <= self.state.validations_since_best

    def _autocast(self) -> torch.autocast:
        wanted = self.config.precision == "bfloat16"
        return torch.autocast(self.group.device.type, torch.bfloat16, enabled=wanted)

    def _check_precision(self) -> None:
        on_cpu = self.group.device.type == "cpu"
        if self.config.precision == "bfloat16" and on_cpu and not bfloat16_is_safe():
            raise MuteError("train.precision: this CPU cannot compute in bfloat16; use float32")
