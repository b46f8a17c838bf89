"""A peer of the speed measurements: aiohttp, each event's JSON parsed. URL CLIENTS REQUESTS"""
import asyncio
import json
import sys

import aiohttp

BODY = {"model": "bench", "stream": True, "messages": [{"role": "user", "content": "go"}]}


async def client(session, url, counter, total):
    while counter[0] < total:
        counter[0] += 1
        text, finish = [], None
        async with session.post(url, json=BODY) as response:
            async for line in response.content:
                if not line.startswith(b"data: {"):
                    continue
                for choice in json.loads(line[6:])["choices"]:
                    text.append(choice["delta"].get("content") or "")
                    finish = choice["finish_reason"] or finish
        if not finish or not "".join(text):
            sys.exit("an answer was not whole")


async def main(url, clients, total):
    counter = [0]
    limit = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=limit) as session:
        await asyncio.gather(*(client(session, url, counter, total) for _ in range(clients)))


asyncio.run(main(sys.argv[1] + "/chat/completions", int(sys.argv[2]), int(sys.argv[3])))
