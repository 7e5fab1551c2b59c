"""agent-client-protocol, the SDK for Python, as an agent over standard input and output. A cancel reaches the handler as the cancellation of its task."""

import asyncio
from typing import Any

import acp
from acp.schema import Implementation
from counting import counted, read


class Counting(acp.Agent):
    def on_connect(self, conn) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=1, agent_info=Implementation(name="agent-client-protocol (Python)", version="0.12.1"))

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "conformance/read":
            return read(params["key"])
        if method != "conformance/count":
            raise acp.RequestError.method_not_found(method)
        for step in range(1, params["steps"] + 1):
            await asyncio.sleep(params["ms"] / 1000)
            counted[params["key"]] = step
            if params.get("progressToken") is not None:
                await self.client.ext_notification("conformance/progress", {"token": params["progressToken"], "value": {"progress": step}})
        return {"key": params["key"], "count": params["steps"]}


asyncio.run(acp.run_agent(Counting()))
