"""A peer of the speed measurements: the official Python client. URL CLIENTS REQUESTS"""
import asyncio
import sys

import openai

MESSAGES = [{"role": "user", "content": "go"}]


async def client(api, counter, total):
    while counter[0] < total:
        counter[0] += 1
        text, finish = [], None
        stream = await api.chat.completions.create(model="bench", stream=True, messages=MESSAGES)
        async for event in stream:
            for choice in event.choices:
                text.append(choice.delta.content or "")
                finish = choice.finish_reason or finish
        if not finish or not "".join(text):
            sys.exit("an answer was not whole")


async def main(url, clients, total):
    counter = [0]
    api = openai.AsyncOpenAI(base_url=url, api_key="unused", max_retries=0)
    await asyncio.gather(*(client(api, counter, total) for _ in range(clients)))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
