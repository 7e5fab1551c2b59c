"""pygls, over standard input and output with headers. A cancel reaches the handler as the cancellation of its task."""

import asyncio

from counting import counted, read
from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("pygls", "2.1.1")


def plain(params) -> dict:
    return params if isinstance(params, dict) else params._asdict() if hasattr(params, "_asdict") else vars(params)


@server.feature("_conformance/count")
async def count_handler(params):
    given = plain(params)
    for step in range(1, given["steps"] + 1):
        await asyncio.sleep(given["ms"] / 1000)
        counted[given["key"]] = step
        if given.get("progressToken") is not None:
            server.protocol.notify("$/progress", types.ProgressParams(token=given["progressToken"], value={"progress": step}))
    return {"key": given["key"], "count": given["steps"]}


@server.feature("_conformance/read")
def read_handler(params):
    return read(plain(params)["key"])


server.start_io()
