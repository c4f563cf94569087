"""Asks a server through the official Python client what its standard input says, and prints what it got as JSON."""

import json
import sys

from openai import OpenAI


def ask(client, request):
    kind = request.pop("kind")
    make = client.chat.completions if kind == "chat" else client.completions
    if request.get("stream"):
        reply = make.with_raw_response.create(**request)
        return {
            "cache": reply.headers.get("cache-status", ""),
            "chunks": [chunk.to_dict() for chunk in reply.parse()],
        }
    reply = make.with_raw_response.create(**request)
    return {"cache": reply.headers.get("cache-status", ""), "answer": reply.parse().to_dict()}


def main():
    task = json.load(sys.stdin)
    client = OpenAI(base_url=task["url"], api_key="any", max_retries=0)
    json.dump([ask(client, request) for request in task["requests"]], sys.stdout)


main()
