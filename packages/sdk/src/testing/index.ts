export { inProcess } from "./in-process.ts";
export type { InProcess, InProcessServer } from "./in-process.ts";
export { scriptedModel } from "./scripted-model.ts";
export type { ScriptedModelOptions, ScriptedPart } from "./scripted-model.ts";
