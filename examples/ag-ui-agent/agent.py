"""The agent of agent.ts in Python, with the standard library alone: any AG-UI endpoint will do, whatever it is written in."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def run(asked):
    ids = {"threadId": asked["threadId"], "runId": asked["runId"]}
    yield {"type": "RUN_STARTED", **ids, "protocolVersion": "1.0"}
    yield from say(asked)
    interrupts = asks_before(asked)
    outcome = {"type": "interrupt", "interrupts": interrupts} if interrupts else {"type": "success"}
    yield {"type": "RUN_FINISHED", **ids, "outcome": outcome}


def say(asked):
    run_id, last, resume = asked["runId"], asked["messages"][-1], asked.get("resume")
    if resume:
        payload = resume[0].get("payload")
        approved = isinstance(payload, dict) and payload.get("approved") is True
        yield result("pay", "Paid 5." if approved else "Not paid.")
        yield from text(run_id, "It is paid." if approved else "Then not.")
    elif last.get("toolCallId") == "where":
        yield from text(run_id, f"You are here: {last['content']}. Parking is 5.")
        yield from call("pay", "pay", {"amount": 5})
    elif any(tool["name"] == "where_am_i" for tool in asked["tools"]):
        yield from call("where", "where_am_i", {})
    else:
        yield from text(run_id, "Hello. Nobody here can tell me where you are.")


def asks_before(asked):
    if asked.get("resume") or asked["messages"][-1].get("toolCallId") != "where":
        return None
    return [{"id": "pay", "reason": "tool_call", "toolCallId": "pay", "message": "Pay 5 for parking?"}]


def text(message_id, words):
    yield {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"}
    for word in words.split():
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": word + " "}
    yield {"type": "TEXT_MESSAGE_END", "messageId": message_id}


def call(call_id, name, arguments):
    yield {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": name}
    yield {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": json.dumps(arguments)}
    yield {"type": "TOOL_CALL_END", "toolCallId": call_id}


def result(call_id, content):
    message_id = f"result-{call_id}"
    return {"type": "TOOL_CALL_RESULT", "messageId": message_id, "toolCallId": call_id, "content": content}


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in run(asked):
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000), Endpoint)
    print(f"The agent listens on http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
