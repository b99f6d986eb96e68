"""The least that a JSON protocol over one WebSocket costs: `ceiling.py serve`, `ceiling.py client URL PID`.

An ASGI function decodes an envelope with a request id and encodes one with the fixed reply; the client matches replies
by id. The messages are those of agentenv's protocol, byte for byte; behind them is no session, no position, no limit
and no check.
"""

import asyncio
import itertools
import sys

import aiohttp
import msgspec
import side
from fixed import ACTION, REPLY


class Body(msgspec.Struct):
    action: str
    episode: int
    step: int


class Call(msgspec.Struct, tag_field="op", tag="step"):
    session: str
    body: Body
    id: int


class Answer(msgspec.Struct):
    observation: str
    reward: float
    terminated: bool
    truncated: bool
    outcome: str | None
    success: bool | None
    score: float | None
    info: dict
    episode: int
    step: int
    image: bytes | None = None


class Reply(msgspec.Struct):
    id: int
    status: int
    body: Answer


SESSION = "0123456789abcdef0123456789abcdef"
encode = msgspec.json.Encoder().encode
decode_calls = msgspec.json.Decoder(Call | list[Call]).decode
decode_replies = msgspec.json.Decoder(Reply | list[Reply]).decode


async def app(scope, receive, send) -> None:
    """Answer each message; a list by a list."""
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        calls = decode_calls(message["bytes"])
        answers = [answer(call) for call in calls] if type(calls) is list else answer(calls)
        await send({"type": "websocket.send", "bytes": encode(answers)})


def answer(call: Call) -> Reply:
    body = call.body
    return Reply(call.id, 200, Answer(REPLY, 0.0, False, False, None, None, None, {}, body.episode, body.step + 1))


async def client(url: str, server: int) -> None:
    ids = itertools.count()
    waiting: dict[int, asyncio.Future] = {}

    async with aiohttp.ClientSession() as http, http.ws_connect(url + "/ws", max_msg_size=0) as socket:

        async def receive() -> None:
            async for message in socket:
                replies = decode_replies(message.data)
                for reply in replies if type(replies) is list else [replies]:
                    waiting.pop(reply.id).set_result(reply)

        loop = asyncio.get_running_loop()

        def call() -> tuple[Call, asyncio.Future]:
            made = Call(SESSION, Body(ACTION, 0, 0), next(ids))
            future = waiting[made.id] = loop.create_future()
            return made, future

        async def one() -> None:
            made, future = call()
            await socket.send_bytes(encode(made))
            await future

        async def many(count: int) -> None:
            made = [call() for _ in range(count)]
            await socket.send_bytes(encode([m for m, _ in made]))
            for _, future in made:
                await future

        async def measure(way: str, count: int, seconds: float) -> side.Rate:
            for spell in (side.WARM_UP_S, seconds):
                if way == "batch":
                    rate = await side.rate([lambda: many(count)], spell, server, each=count)
                else:
                    rate = await side.rate([one] * count, spell, server)
            return rate

        reader = asyncio.create_task(receive())
        await side.answer_jobs(measure)
        reader.cancel()


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        side.serve_asgi(app)
    else:
        side.run(client(sys.argv[2], int(sys.argv[3])))
