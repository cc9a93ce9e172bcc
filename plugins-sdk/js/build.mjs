// Builds a module's component. Called by `hub module build` as
// node build.mjs ENTRY WIT-FOLDER WORLD POINTS OUTPUT
import { writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [entry, witPath, world, points, output] = process.argv.slice(2);

// The tools are dependencies of the module, not of the SDK.
const tool = async (name) => import(pathToFileURL(createRequire(resolve("package.json")).resolve(name)).href);
const { build } = (await tool("esbuild")).default;
const { componentize } = (await tool("componentize-qjs")).default;

const wrapped = (point) => {
  const wrap = `wrap${point[0].toUpperCase()}${point.slice(1)}`;
  return `import { ${wrap} } from "network-hub-module/entry";\nexport const ${point} = ${wrap}(module.${point});`;
};
const bundle = await build({
  stdin: {
    contents: `import * as module from ${JSON.stringify(`./${entry}`)};\n${points.split(",").map(wrapped).join("\n")}`,
    resolveDir: process.cwd(),
  },
  bundle: true,
  write: false,
  format: "esm",
  target: "es2023",
  platform: "neutral",
  mainFields: ["module", "main"],
  conditions: ["import"],
  external: ["network-hub:*"],
  // A missing export of a point is an error, not undefined.
  logOverride: { "import-is-undefined": "error" },
  logLevel: "warning",
}).catch(() => process.exit(1));
const { component } = await componentize({ jsSource: bundle.outputFiles[0].text, witPath, world, sync: true });
await writeFile(output, component);
