"""Bare vLLM, for benchmarks/engine.py: vLLM's own class LLM in this process. It runs in the environment that has vLLM.

    python vllm_bare.py MODEL ARGS                ARGS: JSON, arguments of LLM

Asked by a line of JSON each, it answers with one. {"generate": [prompts, sampling]}, with a set of sampling parameters
for each prompt: wall and CPU seconds, token ids. {"reload": folder}: the seconds that vLLM's own reload takes.
"""

import json
import os
import sys
import time


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what vLLM prints goes elsewhere
    from vllm import LLM, SamplingParams

    llm = LLM(model=sys.argv[1], **json.loads(sys.argv[2]))
    found = {"ready": True}
    while True:
        print(json.dumps(found), file=answers, flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        asked = json.loads(line)
        if "reload" in asked:
            began = time.perf_counter()
            llm.collective_rpc("reload_weights", kwargs={"weights_path": asked["reload"]})
            found = {"seconds": time.perf_counter() - began}
            continue
        prompts, sampling = asked["generate"]
        cpu, began = time.process_time(), time.perf_counter()
        outputs = llm.generate(
            [{"prompt_token_ids": ids} for ids in prompts], [SamplingParams(**one) for one in sampling], use_tqdm=False
        )
        seconds = time.perf_counter() - began
        cpu = time.process_time() - cpu
        found = {"wall_s": seconds, "cpu_s": cpu, "token_ids": [list(o.outputs[0].token_ids) for o in outputs]}


if __name__ == "__main__":
    main()
