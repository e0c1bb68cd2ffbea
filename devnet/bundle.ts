import { build, type OutputFile, type Plugin } from 'esbuild'
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { inProject } from './launcher/binaries.js'

/**
 * Bundles the venue's programs (docs/decisions/0010-own-launcher.md): each becomes one file below `bundle/`, at the place that
 * its compiled file has below `dist/`.
 */

/** The programs and threads that a venue starts, below `dist/` and below `bundle/`. */
export const PROGRAMS: readonly string[] = [
  'actors/auditor/main.js',
  'actors/chain-reader/main.js',
  'actors/matcher/main.js',
  'actors/operator/main.js',
  'actors/order-intake/main.js',
  'actors/projector/main.js',
  'actors/keeper/main.js',
  'actors/transfer-submitter/main.js',
  'actors/ws-fanout/main.js',
  'api-gateway/books/worker.js',
  'api-gateway/main.js',
  'chain/signing/external/worker.js',
  'data/claim-writer-thread.js',
  'devnet/demo-accounts.js',
  'devnet/demo-maker.js',
  'devnet/feeder.js',
  'devnet/up.js',
  'executor/main.js',
]

/** Packages with a native part, and the compiler, which few starts need. */
const NOT_BUNDLED = ['better-sqlite3', 'secp256k1', 'solc']
/**
 * V8 keeps the text of a program in memory, with two bytes for each character if one of them is not Latin, which some comments of
 * packages have: without comments and indentation, the text takes a quarter. Lines stay short, because Node prints the line
 * of an error that nothing catches.
 */
const LINE_LENGTH = 160
/** Sockets do without the native masking of `bufferutil`, which a package of the tests brings with it. */
const DEFINED = { [['process', 'env', 'WS_NO_BUFFER_UTIL'].join('.')]: '"1"' }
/** For all of a bundle: `require`, which CommonJS packages call for what Node itself has, and the URL of `bundle/`. */
const HEAD = `import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
const BUNDLES = import.meta.url.slice(0, import.meta.url.lastIndexOf('/bundle/') + '/bundle/'.length)`

const dist = inProject('dist')
const bundle = inProject('bundle')
/** Its time is that of the beginning of the newest build. */
const made = join(bundle, '.made')
/** Compiled code that no program of the venue contains. */
const OTHER_ROOMS: ReadonlySet<string> = new Set(['bench', 'ccxt', 'examples', 'test', 'web'])

/** Bundles every program; names stay as they are. The bundles have source maps, which lead to the TypeScript sources. */
export async function bundlePrograms(): Promise<void> {
  // The time is that of the file system, as the times are that it is compared with.
  const begun = `${made}.${process.pid}`
  await mkdir(bundle, { recursive: true })
  await writeFile(begun, '')
  const { outputFiles } = await build({
    entryPoints: PROGRAMS.map((program) => join(dist, program)),
    outbase: dist,
    outdir: bundle,
    write: false,
    external: NOT_BUNDLED,
    plugins: [usedParts, ownModules],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    define: DEFINED,
    legalComments: 'none',
    banner: { js: HEAD },
    minifyWhitespace: true,
    lineLimit: LINE_LENGTH,
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  })
  await Promise.all(outputFiles.map(writeWhole))
  await rename(begun, made)
}

/** The same, unless the bundles are newer than the compiled code and the packages. */
export async function provideBundles(): Promise<void> {
  const madeMs = await timeMs(made)
  const newestMs = Math.max(
    await newestIn(dist, true),
    await timeMs(inProject('package-lock.json')),
  )
  if (madeMs <= newestMs) await bundlePrograms()
}

/** By rename: another process may start the program meanwhile. */
async function writeWhole({ path, contents }: OutputFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.${process.pid}`, contents)
  await rename(`${path}.${process.pid}`, path)
}

/**
 * Gives each of our modules in a bundle the URL that it would have as a file of its own below `bundle/`: from there, the
 * paths to data files and to other programs are the same as from `dist/`. And takes zod as a namespace, of which esbuild
 * leaves out what is not used; it keeps all of an object that a module exports, with the texts of fifty languages.
 */
const ownModules: Plugin = {
  name: 'own modules',
  setup: (esbuild) => {
    esbuild.onLoad({ filter: /\.js$/ }, async ({ path }) => {
      if (!path.startsWith(dist + sep)) return undefined
      const text = await readFile(path, 'utf8')
      const url = `new URL(${JSON.stringify(relative(dist, path))}, BUNDLES).href`
      return { contents: text.replaceAll('import.meta.url', url).replace(...ZOD) }
    })
  },
}

const ZOD = [/^import \{ z \} from (['"])zod\1/m, "import * as z from 'zod'"] as const

/** A package that a module of ours imports is in a bundle only if something of it is used there: Koa is not, where sockets are served. */
const usedParts: Plugin = {
  name: 'used parts',
  setup: (esbuild) => {
    esbuild.onResolve({ filter: /^[a-z@]/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === usedParts || !from.importer.startsWith(dist + sep)) return undefined
      const found = await esbuild.resolve(path, { ...from, pluginData: usedParts })
      return { ...found, sideEffects: false }
    })
  },
}

/** Time of the newest compiled file; deleted files do not count. */
async function newestIn(folder: string, isTop = false): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true })
  const times = entries.map((entry) => {
    const path = join(folder, entry.name)
    if (isTop && OTHER_ROOMS.has(entry.name)) return Promise.resolve(0)
    if (entry.isDirectory()) return newestIn(path)
    return path.endsWith('.js') ? timeMs(path) : Promise.resolve(0)
  })
  return Math.max(0, ...(await Promise.all(times)))
}

/** 0 for a file that does not exist. */
async function timeMs(file: string): Promise<number> {
  try {
    return (await stat(file)).mtimeMs
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}
