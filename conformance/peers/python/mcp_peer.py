"""mcp, the SDK for Python, over standard input and output, or with `http PORT`. A cancel reaches the tool as the cancellation of its task."""

import sys

from counting import count, read
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("mcp (Python)", version="2.3.0")


@server.tool(name="conformance.count")
async def count_tool(key: str, steps: int, ms: float, ctx: Context) -> dict:
    return await count(key, steps, ms, lambda step: ctx.report_progress(step))


@server.tool(name="conformance.read")
async def read_tool(key: str) -> dict:
    return read(key)


if sys.argv[1:2] == ["http"]:
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
else:
    server.run()
