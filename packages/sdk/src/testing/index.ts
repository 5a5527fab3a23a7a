export { scriptedModel } from "./scripted-model.ts";
export type { ScriptedModelOptions, ScriptedPart } from "./scripted-model.ts";
