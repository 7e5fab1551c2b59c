"""fastmcp, over standard input and output, or with `http PORT`. A cancel reaches the tool as the cancellation of its task."""

import sys

from counting import count, read
from fastmcp import Context, FastMCP

server = FastMCP("fastmcp")


@server.tool(name="conformance.count")
async def count_tool(key: str, steps: int, ms: float, ctx: Context) -> dict:
    return await count(key, steps, ms, lambda step: ctx.report_progress(step))


@server.tool(name="conformance.read")
async def read_tool(key: str) -> dict:
    return read(key)


if sys.argv[1:2] == ["http"]:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
else:
    server.run(show_banner=False)
