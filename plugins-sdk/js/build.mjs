// Builds a module's component. Called by `hub module build` as
// node build.mjs ENTRY WIT-FOLDER WORLD INTERFACES ABSENT OUTPUT
// with the interfaces that the module exports, and those of its points that module.toml does not declare.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [entry, witPath, world, interfaces, absent, output] = process.argv.slice(2);

// The tools are dependencies of the module, not of the SDK.
const tool = async (name) => import(pathToFileURL(createRequire(resolve("package.json")).resolve(name)).href);
const { build } = (await tool("esbuild")).default;
const { componentize } = (await tool("componentize-qjs")).default;

const wrapped = (name) => {
  const wrap = `wrap${name[0].toUpperCase()}${name.slice(1)}`;
  return `import { ${wrap} } from "network-hub-module/entry";\nexport const ${name} = ${wrap}(module.${name});`;
};

const refused = (name) => {
  const why = `the module exports \`${name}\`, which its module.toml does not declare`;
  return `if (${JSON.stringify(name)} in module) throw new Error(${JSON.stringify(why)});`;
};

const lines = (names, line) => names.split(",").filter((name) => name !== "").map(line);

// The hub's interfaces, in the version of the module's contract.
const [, version] = /@([\d.]+);/.exec(await readFile(join(witPath, "module.wit"), "utf8"));
const contract = {
  name: "contract",
  setup({ onResolve }) {
    onResolve({ filter: /^network-hub:module\// }, ({ path }) => {
      const name = path.split("/")[1];
      if (existsSync(join(witPath, `${name}.wit`))) return { path: `${path}@${version}`, external: true };
      const text = `contract ${version} has no \`${name}\`: it needs a newer "contract" in hub-module.json`;
      return { errors: [{ text }] };
    });
  },
};

const bundle = await build({
  stdin: {
    contents: [
      `import * as module from ${JSON.stringify(`./${entry}`)};`,
      ...lines(interfaces, wrapped),
      ...lines(absent, refused),
    ].join("\n"),
    resolveDir: process.cwd(),
  },
  bundle: true,
  write: false,
  format: "esm",
  target: "es2023",
  platform: "neutral",
  mainFields: ["module", "main"],
  conditions: ["import"],
  plugins: [contract],
  // A missing export of a point is an error, not undefined.
  logOverride: { "import-is-undefined": "error" },
  logLevel: "warning",
}).catch(() => process.exit(1));
const { component } = await componentize({ jsSource: bundle.outputFiles[0].text, witPath, world, sync: true });
await writeFile(output, component);
