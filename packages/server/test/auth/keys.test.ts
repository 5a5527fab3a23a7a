import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SignJWT } from "jose";
import { afterEach, expect, test } from "vitest";
import {
  createServer,
  memoryStorage,
  mintToken,
  type Server,
  type ServerOptions,
} from "../../src/index.ts";
import { ISSUER_REST_MS } from "../../src/auth/fetch-keys.ts";
import { send } from "./scene.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pemOf = (key: KeyObject) => key.export({ type: "spki", format: "pem" }) as string;
const privatePem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }) as string;
const secret = crypto.getRandomValues(new Uint8Array(32));
const grants = [{ sessions: "*", verbs: ["admin"] }] as const;
const ana = { principal: "user:ana", grants } as const;
const now = Math.floor(Date.now() / 1000);
const claims = { sub: "user:eve", iat: now, exp: now + 60, grants };

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

function open(options: Partial<ServerOptions>): Server {
  const server = createServer({ storage: memoryStorage(), ...options });
  servers.push(server);
  return server;
}

/** What a token is worth: 200, or why it is worth nothing. */
async function worth(server: Server, token: string): Promise<unknown> {
  const { status, text } = await send(server, { method: "GET", path: "/v1/sessions", token });
  return status === 200 ? 200 : [status, JSON.parse(text).code];
}
const NOTHING = [401, "unauthenticated"];

test.each([
  ["HS256, with the secret", { secret }, { secret }],
  ["HS256, with a former one", { secret: new Uint8Array(32), formerSecrets: [secret] }, { secret }],
  [
    "RS256, PEM",
    { publicKeys: [pemOf(rsa.publicKey)] },
    { privateKey: privatePem(rsa.privateKey) },
  ],
  [
    "ES256, JWK",
    { publicKeys: [ec.publicKey.export({ format: "jwk" })] },
    { privateKey: ec.privateKey.export({ format: "jwk" }) },
  ],
  [
    "one key of several",
    { secret, publicKeys: [pemOf(rsa.publicKey), pemOf(ec.publicKey)] },
    { privateKey: privatePem(ec.privateKey) },
  ],
])("a token is good by %s, and of no other key", async (_, options, signer) => {
  const server = open(options);
  expect(await worth(server, await mintToken({ ...ana, ...signer }))).toBe(200);
  const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  for (const key of [{ secret: new Uint8Array(32).fill(1) }, { privateKey: privatePem(other) }]) {
    expect(await worth(server, await mintToken({ ...ana, ...key }))).toEqual(NOTHING);
  }
});

test("a key is for its own algorithm alone: a public key is no secret", async () => {
  const pem = pemOf(rsa.publicKey);
  const jwk = rsa.publicKey.export({ format: "jwk" });
  const server = open({ secret, publicKeys: [pem] });
  const der = rsa.publicKey.export({ type: "spki", format: "der" });
  for (const key of [Buffer.from(pem), Buffer.from(pem.trim()), der, Buffer.from(`${jwk.n}`)]) {
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(key);
    expect(await worth(server, token)).toEqual(NOTHING);
  }
  for (const alg of ["PS256", "RS512"]) {
    const token = await new SignJWT(claims).setProtectedHeader({ alg }).sign(rsa.privateKey);
    expect(await worth(server, token)).toEqual(NOTHING);
  }
});

test("a token that names a key is checked with that one; one nobody has is good for nothing", async () => {
  const first = { ...ec.publicKey.export({ format: "jwk" }), kid: "first" };
  const server = open({ publicKeys: [first] });
  const privateKey = privatePem(ec.privateKey);
  const by = (keyId?: string) => mintToken({ ...ana, privateKey, ...(keyId && { keyId }) });
  expect(await worth(server, await by("first"))).toBe(200);
  expect(await worth(server, await by())).toBe(200);
  expect(await worth(server, await by("second"))).toEqual(NOTHING);
  expect(await worth(server, await by("__proto__"))).toEqual(NOTHING);
});

test("issuer and audience must be the server's, where it has any", async () => {
  const ours = { issuer: "https://issuer.example", audience: "holdfast" };
  const server = open({ secret, ...ours });
  expect(await worth(server, await mintToken({ ...ana, secret, ...ours }))).toBe(200);
  expect(await worth(server, await server.mint("user:ana"))).toBe(200);
  for (const wrong of [{}, { ...ours, issuer: "https://evil.example" }, { ...ours, audience: "x" }])
    expect(
      await worth(server, await mintToken({ ...ana, secret, issuer: "", audience: "", ...wrong })),
    ).toEqual(NOTHING);
});

test("an attempt's token is made with the server's own secret and no other key", async () => {
  const server = open({ secret, issuer: "us", publicKeys: [pemOf(rsa.publicKey)] });
  const token = await server.mint("user:ana");
  await send(server, { method: "PUT", path: "/v1/sessions/s", token, body: {} });
  const attempt = { session: "s", runId: "r", attempt: 1 };
  const forged = { ...claims, iss: "us", attempt };
  const signed = (alg: string, key: Uint8Array | KeyObject) =>
    new SignJWT(forged).setProtectedHeader({ alg }).sign(key);
  const reads = async (by: string) =>
    (await send(server, { method: "GET", path: "/v1/sessions/s", token: by })).status;
  expect(await reads(await signed("HS256", secret))).toBe(200); // the server itself could
  expect(await reads(await signed("RS256", rsa.privateKey))).toBe(401);
});

test.each([
  ["a short secret", { secret: new Uint8Array(31) }, /32 bytes/],
  // As somebody without types hands it over.
  ["a secret as text", { secret: "x".repeat(32) as unknown as Uint8Array }, /must be bytes/],
  ["a private key for a public one", { publicKeys: [privatePem(rsa.privateKey)] }, /private/],
  ["a secret for a public key", { publicKeys: [{ kty: "oct", k: "AAAA" }] }, /PEM or a JWK/],
  [
    "a short RSA key",
    {
      publicKeys: [pemOf(generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey)],
    },
    /2048 bits/,
  ],
  [
    "another curve",
    {
      publicKeys: [pemOf(generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey)],
    },
    /P-256/,
  ],
  [
    "a JWK for something else",
    { publicKeys: [{ ...rsa.publicKey.export({ format: "jwk" }), use: "enc" }] },
    /not for tokens/,
  ],
  ["a key set over plain http", { jwksUrl: "http://issuer.example/keys" }, /https/],
  ["a key set in a file", { jwksUrl: "file:///etc/passwd" }, /https/],
] as const)("%s is refused at the start", (_, options, words) => {
  expect(() => open(options as Partial<ServerOptions>)).toThrow(words);
});

test("published keys: read once, read again for a new key, not for every unknown one", async () => {
  let keys = [{ ...rsa.publicKey.export({ format: "jwk" }), kid: "one" }] as object[];
  let status = 503;
  let asked = 0;
  const clock = Date.now;
  const issuer = createHttpServer((_, response) => {
    asked += 1;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = issuer.address() as AddressInfo;
    const server = open({ jwksUrl: `http://127.0.0.1:${port}/keys` });
    const by = (keyId: string, key: KeyObject) =>
      mintToken({ ...ana, keyId, privateKey: privatePem(key) });
    const first = await by("one", rsa.privateKey);
    // Not the token's fault: it may be sent again.
    for (let tries = 0; tries < 20; tries += 1)
      expect(await worth(server, first)).toEqual([503, "overloaded"]);
    expect(asked).toBe(1); // it is left alone for a moment
    Date.now = () => clock() + ISSUER_REST_MS;
    status = 200;
    asked = 0;
    expect(await worth(server, first)).toBe(200);
    expect(await worth(server, await by("one", rsa.privateKey))).toBe(200);
    expect(asked).toBe(1);
    // A token of another kind of key, and one that is signed with what is published as if it were a secret.
    expect(await worth(server, await by("one", ec.privateKey))).toEqual(NOTHING);
    const confused = new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "one" });
    const pem = Buffer.from(pemOf(rsa.publicKey));
    expect(await worth(server, await confused.sign(pem))).toEqual(NOTHING);

    keys = [{ ...ec.publicKey.export({ format: "jwk" }), kid: "two" }];
    for (let round = 0; round < 20; round += 1) {
      expect(await worth(server, await by(`no-${round}`, ec.privateKey))).toEqual(NOTHING);
    }
    expect(asked).toBe(1); // it was read just now
  } finally {
    Date.now = clock;
    issuer.close();
    issuer.closeAllConnections();
  }
});

test("published keys that were replaced: the new one is good, the old one no longer", async () => {
  let keys = [{ ...rsa.publicKey.export({ format: "jwk" }), kid: "one" }] as object[];
  const fetchKeys: typeof fetch = async () => Response.json({ keys });
  const clock = Date.now;
  try {
    const server = open({
      jwksUrl: "https://issuer.example/keys",
      fetch: fetchKeys,
      storage: memoryStorage({ now: () => Date.now() }),
    });
    const old = await mintToken({ ...ana, keyId: "one", privateKey: privatePem(rsa.privateKey) });
    expect(await worth(server, old)).toBe(200);
    keys = [{ ...ec.publicKey.export({ format: "jwk" }), kid: "two" }];
    Date.now = () => clock() + 60_000; // past the cooldown
    const fresh = await mintToken({ ...ana, keyId: "two", privateKey: privatePem(ec.privateKey) });
    expect(await worth(server, fresh)).toBe(200);
    const again = await mintToken({ ...ana, keyId: "one", privateKey: privatePem(rsa.privateKey) });
    expect(await worth(server, again)).toEqual(NOTHING);
    // One that was found good before is not looked at again, but for ten minutes at most.
    expect(await worth(server, old)).toBe(200);
    Date.now = () => clock() + 600_000;
    expect(await worth(server, old)).toEqual(NOTHING);
    expect(await worth(server, fresh)).toBe(200);
  } finally {
    Date.now = clock;
  }
});

const jwksUrl = "https://issuer.example/keys";

test("published keys without ids replace each other: both are good while both are there", async () => {
  const second = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const keys = [rsa, second].map(({ publicKey }) => publicKey.export({ format: "jwk" }));
  const server = open({ jwksUrl, fetch: async () => Response.json({ keys }) });
  for (const { privateKey } of [rsa, second])
    expect(
      await worth(server, await mintToken({ ...ana, privateKey: privatePem(privateKey) })),
    ).toBe(200);
  const third = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const forged = await mintToken({ ...ana, privateKey: privatePem(third.privateKey) });
  expect(await worth(server, forged)).toEqual(NOTHING);
  const old = { ...claims, iat: now - 120, exp: now - 60 };
  const expired = new SignJWT(old).setProtectedHeader({ alg: "RS256" });
  expect(await worth(server, await expired.sign(second.privateKey))).toEqual(NOTHING);
});

test.each([
  ["never ends", () => new Response(endless())],
  ["is no set", () => Response.json([])],
  ["is no JSON", () => new Response("<html>")],
  ["is elsewhere", () => Response.redirect("https://evil.example/keys", 302)],
])("a key set that %s is not read, and says so", async (_, answer) => {
  const server = open({ jwksUrl, fetch: async () => answer(), log: () => {} });
  const token = await mintToken({ ...ana, privateKey: privatePem(rsa.privateKey) });
  expect(await worth(server, token)).toEqual([503, "overloaded"]);
});

test("a published key makes no attempt's token", async () => {
  const keys = [rsa.publicKey.export({ format: "jwk" })];
  const server = open({ secret, jwksUrl, fetch: async () => Response.json({ keys }) });
  const token = await server.mint("user:ana");
  await send(server, { method: "PUT", path: "/v1/sessions/s", token, body: {} });
  const attempt = { session: "s", runId: "r", attempt: 1 };
  const reads = async (more: object) => {
    const by = await new SignJWT({ ...claims, ...more })
      .setProtectedHeader({ alg: "RS256" })
      .sign(rsa.privateKey);
    return (await send(server, { method: "GET", path: "/v1/sessions/s", token: by })).status;
  };
  expect([await reads({}), await reads({ attempt })]).toEqual([200, 401]);
});

test("a secret, or a short key, that is published signs nothing", async () => {
  const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const bytes = new Uint8Array(32).fill(5);
  const keys = [
    { kty: "oct", k: Buffer.from(bytes).toString("base64url"), kid: "oct" },
    { ...short.publicKey.export({ format: "jwk" }), kid: "short" },
  ];
  const server = open({ jwksUrl, fetch: async () => Response.json({ keys }) });
  expect(await worth(server, await mintToken({ ...ana, secret: bytes, keyId: "oct" }))).toEqual(
    NOTHING,
  );
  const header = JSON.stringify({ alg: "RS256", kid: "short" });
  const parts = [header, JSON.stringify(claims)].map((it) => Buffer.from(it).toString("base64url"));
  const signature = sign("sha256", Buffer.from(parts.join(".")), short.privateKey);
  const token = [...parts, signature.toString("base64url")].join(".");
  expect(await worth(server, token)).toEqual(NOTHING);
});

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 16)) });
}
