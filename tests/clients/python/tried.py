"""Tries a published MCP client for Python at a gateway. Prints the observations as one line of JSON.

Arguments: the way (`http` or `stdio`), the client (`mcp` or `fastmcp`), the gateway's address, the command line.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack

WAY, CLIENT, URL, CAPHOST = sys.argv[1:]
BRIDGE = ["mcp", "--gateway", URL]


# By default, fastmcp raises an exception for a failed tool.
TOLD = {"raise_on_error": False} if CLIENT == "fastmcp" else {}


async def connect_mcp(stack):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    if WAY == "stdio":
        streams = await stack.enter_async_context(stdio_client(StdioServerParameters(command=CAPHOST, args=BRIDGE)))
    else:
        import mcp.client.streamable_http as http

        connect = getattr(http, "streamablehttp_client", None) or http.streamable_http_client
        streams = await stack.enter_async_context(connect(f"{URL}/mcp"))
    session = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
    await session.initialize()
    return session


async def connect_fastmcp(stack):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    transport = StdioTransport(command=CAPHOST, args=BRIDGE) if WAY == "stdio" else f"{URL}/mcp"
    return await stack.enter_async_context(Client(transport))


def member(of, *names):
    """The first member that exists: later versions use another name."""
    return next(getattr(of, name) for name in names if hasattr(of, name))


def is_of_1():
    from importlib.metadata import version

    return version("mcp").startswith("1.")


async def say_cancelled(session):
    """Cancels the last request. Before version 2, the client sends nothing when its task is cancelled."""
    from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification

    params = CancelledNotificationParams(requestId=session._request_id - 1, reason="enough")
    await session.send_notification(
        ClientNotification(CancelledNotification(method="notifications/cancelled", params=params))
    )


async def text_of(client, result):
    """The text of a result, also if the result is a link to the text."""
    first = result.content[0]
    if first.type != "resource_link":
        return first.text
    read = await client.read_resource(first.uri)
    return (read if isinstance(read, list) else read.contents)[0].text


async def ignore(done, total, message):
    pass


async def main():
    async with AsyncExitStack() as stack:
        client = await (connect_fastmcp if CLIENT == "fastmcp" else connect_mcp)(stack)
        listed = await client.list_tools()
        tools = listed if isinstance(listed, list) else listed.tools
        saw = {"tools": sorted(tool.name for tool in tools)}

        result = await client.call_tool("sums_of", {"list": [1, 2]})
        saw["text"] = result.content[0].text

        picture = next(tool.name for tool in tools if tool.description == "A picture")
        content = (await client.call_tool(picture, {})).content
        saw["picture"] = [content[1].type, member(content[1], "mimeType", "mime_type")]

        large = await text_of(client, await client.call_tool("large", {"megabytes": 3, "of": "abcd"}))
        saw["large"] = len(json.loads(large)["text"])

        larger = await client.call_tool("large", {"megabytes": 6}, **TOLD)
        saw["larger"] = larger.content[0].type

        # fastmcp asks for progress in each call.
        handler = "progress_handler" if CLIENT == "fastmcp" else "progress_callback"
        for name, milliseconds, asked in [("afterProgress", 100, {handler: ignore}), ("afterSilence", 11_000, {})]:
            arguments = {"megabytes": 3, "of": "abcd", "after": milliseconds, "tells": bool(asked)}
            said = await text_of(client, await client.call_tool("large", arguments, **asked, **TOLD))
            saw[name] = len(json.loads(said)["text"]) if said.startswith("{") else said.split(":")[0]

        heard = []
        enough = asyncio.Event()

        async def progress(done, total, message):
            heard.append([done, total, message])
            if len(heard) > 2:
                enough.set()

        work = asyncio.create_task(client.call_tool("work", {}, **{handler: progress}))
        await asyncio.wait_for(enough.wait(), 20)
        saw["progress"] = heard[0]
        if CLIENT == "mcp" and is_of_1():
            await say_cancelled(client)
        work.cancel()
        try:
            await work
        except asyncio.CancelledError:
            saw["cancelled"] = True
        saw["after"] = (await client.call_tool("sums_of", {"text": "ab"})).content[0].text
        print(json.dumps(saw))


asyncio.run(asyncio.wait_for(main(), 60))
