export { findActivation, requestedId } from "./activation.ts";
export { actOf, erase, payloadDigest, payloadText } from "./act.ts";
export type { Act } from "./act.ts";
export type { AuditDropped, AuditRecord, AuditRefusal, AuditWinner } from "./audit.ts";
export type {
  Answer,
  Approval,
  Call,
  CallAnswer,
  CallMoment,
  CallOutcome,
  CallStatus,
  Claim,
  Decision,
  SettleReason,
} from "./call.ts";
export { isApproved } from "./call.ts";
export type { Codec, Encoder, EncoderScope, HistoryOptions } from "./codec.ts";
export { COMMAND_TYPES } from "./command.ts";
export type {
  AgentCommand,
  AgentItem,
  CallAnswerCommand,
  CallAsk,
  CallCommand,
  CallDecide,
  CallProgress,
  ClientCommand,
  Command,
  CommandBody,
  ContentErase,
  Fence,
  MessageSend,
  RunAppend,
  RunRequestCommand,
  SessionUpdate,
  Verdict,
} from "./command.ts";
export { canonical } from "./canonical.ts";
export { CALL_TABLE } from "./call-table.ts";
export type { CallMove, CallTrigger } from "./call-table.ts";
export { toFrameworkId, toSessionId } from "./decide/call.ts";
export { createDraft } from "./decide/draft.ts";
export type { Author, Draft, Sealed, TouchedRow } from "./decide/draft.ts";
export type { Actor, Env } from "./decide/env.ts";
export { joinDeltas } from "./decide/join-deltas.ts";
export type { ContentLimits } from "./decide/limits.ts";
export { decide } from "./decide/index.ts";
export type { Ruling } from "./decide/ruling.ts";
export { createSession } from "./decide/session.ts";
export { startRun } from "./decide/start.ts";
export type { Start } from "./decide/start.ts";
export { decideTimer } from "./decide/timer.ts";
export type { Timer } from "./decide/timer.ts";
export type { Entry, ErasedMark, Frame, Scope } from "./entry.ts";
export { echoIn, eraseEntry } from "./erase.ts";
export type { Echo, ErasedTarget } from "./erase.ts";
export { ERROR_CODES, HoldfastError, reject } from "./errors.ts";
export type { ErrorCode, Rejection } from "./errors.ts";
export type {
  CallEvent,
  CallHints,
  ContentEvent,
  Event,
  EventOf,
  InvalidArguments,
  MessageContent,
  RunEvent,
  RunFailure,
  RunOutcome,
  SessionEvent,
} from "./events.ts";
export { argumentsForModel, resultOf } from "./history.ts";
export type { CallResult } from "./history.ts";
export type { EventItem, Item, RoundItem, SteerItem, TextItem } from "./item.ts";
export type { Journal } from "./journal.ts";
export { bytesBeyond } from "./json-size.ts";
export type { Json, Metadata } from "./json.ts";
export { isTooDeep, MOST_DEPTH } from "./nesting.ts";
export { parseOffset, toOffset } from "./offset.ts";
export type { Offset } from "./offset.ts";
export { createPartialJson } from "./partial-json.ts";
export type { PartialJson } from "./partial-json.ts";
export type { Budget, Policy, ToolRule } from "./policy.ts";
export { redactEntry, redactRows } from "./redact.ts";
export type { Changes, RowKind } from "./reduce/changes.ts";
export { appendDelta } from "./reduce/content.ts";
export { reduce, reduceAll } from "./reduce/index.ts";
export { RUN_TABLE } from "./run-table.ts";
export type { RunMove, RunPhase, RunTrigger } from "./run-table.ts";
export { MAX_REQUESTS } from "./run.ts";
export type { MessageNode, Run, RunInput, RunRequest, RunStatus, Steer, Step } from "./run.ts";
export type { Sees, ToolOf } from "./sight.ts";
export { SOCKET_CLOSES } from "./socket.ts";
export type {
  ClientFrame,
  ServerFrame,
  SocketAck,
  SocketAppend,
  SocketAttempt,
  SocketCommands,
  SocketReady,
  SocketRef,
  SocketRefused,
  SocketSubscribe,
} from "./socket.ts";
export { callsOf, copyState, emptyState, fromRows, partsOf, producerKey, toRows } from "./state.ts";
export type {
  Advertised,
  Grant,
  Part,
  Producer,
  SessionRow,
  SessionState,
  StateIndex,
  StateRows,
} from "./state.ts";
export { schemaText } from "./tool.ts";
export type { ToolDeclaration } from "./tool.ts";
export { pathTo, wasRead } from "./tree.ts";
export { createViewCache, isCall, viewOf } from "./view.ts";
export type { MessageView, RunView, ViewCache, ViewNode, ViewPart } from "./view.ts";
export { waitingFor, waitingOf } from "./waiting.ts";
export type { Waiting } from "./waiting.ts";
export type { CallNotice, RunWake, WebhookEvent } from "./webhook.ts";
