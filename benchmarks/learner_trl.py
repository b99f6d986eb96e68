"""TRL's side of learner.py, in an environment of its own: `learner_trl.py FOLDER MICRO_BATCH STEPS`; prints JSON."""

import json
import os
import sys
import time
from pathlib import Path

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


class Timed(GRPOTrainer):
    """Notes when a batch is ready to be learned from."""

    def _generate_and_score_completions(self, inputs):
        scored = super()._generate_and_score_completions(inputs)
        self.ready = time.perf_counter(), time.process_time()
        return scored


class Clock(TrainerCallback):
    """Notes when an optimizer step is over."""

    def __init__(self) -> None:
        self.found = {"wall_s": [], "cpu_s": [], "norm": []}
        self.trainer = None

    def on_step_end(self, args, state, control, **others):
        wall, cpu = self.trainer.ready
        self.found["wall_s"].append(time.perf_counter() - wall)
        self.found["cpu_s"].append(time.process_time() - cpu)

    def on_log(self, args, state, control, logs=None, **others):
        if "grad_norm" in logs:
            self.found["norm"].append(float(logs["grad_norm"]))


def main(folder: str, micro: str, steps: str) -> None:
    recorded = json.loads((Path(folder) / "batch.json").read_text(encoding="utf-8"))
    rows, members = recorded["rows"], recorded["members"]
    torch.set_num_threads(1)

    def rollout(prompts, trainer):
        """The batch as it was recorded: everything before the first sampled token is the prompt."""
        starts = [row["mask"].index(1) for row in rows]
        return {
            "prompt_ids": [row["tokens"][:s] for row, s in zip(rows, starts, strict=True)],
            "completion_ids": [row["tokens"][s:] for row, s in zip(rows, starts, strict=True)],
            "env_mask": [row["mask"][s:] for row, s in zip(rows, starts, strict=True)],
            "logprobs": [[0.0] * (len(row["tokens"]) - s) for row, s in zip(rows, starts, strict=True)],
            "recorded_reward": [row["reward"] for row in rows],
        }

    def reward(completions, recorded_reward, **others):
        return recorded_reward

    size = int(micro)
    config = GRPOConfig(
        output_dir=str(Path(folder) / "trl"),
        per_device_train_batch_size=size,
        gradient_accumulation_steps=len(rows) // size,
        steps_per_generation=len(rows) // size,
        num_generations=members,
        num_iterations=1,
        max_steps=int(steps) + 1,
        beta=0.0,
        temperature=1.0,
        learning_rate=1e-6,
        lr_scheduler_type="constant",
        max_grad_norm=1.0,
        gradient_checkpointing=False,
        bf16=False,
        use_cpu=True,
        shuffle_dataset=False,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
    )
    clock = Clock()
    trainer = Timed(
        model=AutoModelForCausalLM.from_pretrained(Path(folder) / "model", dtype=torch.float32),
        processing_class=AutoTokenizer.from_pretrained(Path(folder) / "model"),
        args=config,
        reward_funcs=reward,
        train_dataset=Dataset.from_list([{"prompt": f"task {n}"} for n in range(len(rows) // members)] * 4),
        rollout_func=rollout,
        callbacks=[clock],
    )
    clock.trainer = trainer
    trainer.train()
    found = clock.found
    print(json.dumps({"wall_s": found["wall_s"][1:], "cpu_s": found["cpu_s"][1:], "norm": found["norm"][:1]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
