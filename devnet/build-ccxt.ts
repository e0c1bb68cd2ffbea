import { build, type BuildOptions } from 'esbuild'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/**
 * Makes the package of the CCXT class: `ccxt/package.json` next to `lib/`, once as modules and once as CommonJS, because the two
 * builds of CCXT have two classes `Exchange`. Keccak and the curve are in it; CCXT itself is its user's.
 */

const root = fileURLToPath(new URL('../../', import.meta.url))
const ENTRY = join(root, 'ccxt/index.ts')
const FORMATS = ['esm', 'cjs'] as const

/** Replaces the directory by the package, ready for `npm pack`. */
export async function buildCcxt(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  const types = declarations()
  for (const format of FORMATS) {
    const folder = join(directory, 'lib', format)
    await mkdir(folder, { recursive: true })
    const options: BuildOptions = {
      entryPoints: [ENTRY],
      bundle: true,
      format,
      target: 'es2022',
      platform: 'neutral',
      outfile: join(folder, 'index.js'),
      external: ['ccxt'],
      mainFields: ['module', 'main'],
      legalComments: 'none',
      logLevel: 'warning',
    }
    await build(options)
    for (const [name, text] of types) await writeFile(join(folder, name), text)
  }
  await writeFile(join(directory, 'lib/cjs/package.json'), '{ "type": "commonjs" }\n')
  for (const name of ['package.json', 'README.md']) {
    await copyFile(join(root, 'ccxt', name), join(directory, name))
  }
  await copyFile(join(root, 'LICENSE'), join(directory, 'LICENSE'))
}

/** The declarations of the classes by file name: they refer to each other and to CCXT. */
function declarations(): Map<string, string> {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  delete options.tsBuildInfoFile
  const program = ts.createProgram([ENTRY], {
    ...options,
    declaration: true,
    emitDeclarationOnly: true,
    incremental: false,
    sourceMap: false,
    noEmit: false,
    outDir: '/out',
    types: ['node'],
  })
  const emitted = new Map<string, string>()
  program.emit(undefined, (path, text) => {
    if (basename(dirname(path)) === 'ccxt') emitted.set(basename(path), text)
  })
  return reachable(emitted, 'index.d.ts')
}

/** The files that the first one refers to, and those that these refer to. */
function reachable(files: ReadonlyMap<string, string>, first: string): Map<string, string> {
  const found = new Map<string, string>()
  const visit = (name: string): void => {
    const text = files.get(name)
    if (text === undefined || found.has(name)) return
    found.set(name, text)
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      visit(basename(fileName).replace(/\.js$/, '.d.ts'))
    }
  }
  visit(first)
  return found
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildCcxt(join(root, 'dist/package-ccxt'))
}
