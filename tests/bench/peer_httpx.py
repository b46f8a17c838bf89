"""A peer of the speed measurements: httpx, each event's JSON parsed. URL CLIENTS REQUESTS"""
import asyncio
import json
import sys

import httpx

BODY = {"model": "bench", "stream": True, "messages": [{"role": "user", "content": "go"}]}


async def client(session, url, counter, total):
    while counter[0] < total:
        counter[0] += 1
        text, finish = [], None
        async with session.stream("POST", url, json=BODY) as response:
            async for line in response.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                for choice in json.loads(line[6:])["choices"]:
                    text.append(choice["delta"].get("content") or "")
                    finish = choice["finish_reason"] or finish
        if not finish or not "".join(text):
            sys.exit("an answer was not whole")


async def main(url, clients, total):
    counter = [0]
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(limits=limits, timeout=60) as session:
        await asyncio.gather(*(client(session, url, counter, total) for _ in range(clients)))


asyncio.run(main(sys.argv[1] + "/chat/completions", int(sys.argv[2]), int(sys.argv[3])))
