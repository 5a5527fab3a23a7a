import { expect, it } from "vitest";
import * as copilotkit from "../../src/copilotkit/index.ts";

it("@holdfast/sdk/copilotkit exports what is meant to be used", () => {
  expect(Object.keys(copilotkit)).toEqual(["createHoldfastRunner"]);
});
