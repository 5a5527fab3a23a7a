// Runs before `npm test` and `npm start`. Plain old syntax, so that any Node can say what is wrong.
var required = 24;
var running = process.versions.node;

if (Number(running.split(".")[0]) < required) {
  console.error(
    "Holdfast needs Node " +
      required +
      " or newer; this is Node " +
      running +
      ".\nThe repository brings its own on Linux (x64, arm64) and Windows (x64): run `npm ci` without" +
      " --omit=optional.\nElsewhere, install Node " +
      required +
      " and run the command again.",
  );
  process.exit(1);
}
