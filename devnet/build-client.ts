import { build, type BuildOptions } from 'esbuild'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { flatTypes, namedSchemas, type Modules } from './client-types.js'
import { copyPackageFiles, declarationsOf, reachable } from './package-files.js'

/**
 * Makes the package of the client: `client/package.json` next to `lib/`, with one module that leaves viem to its user, one
 * for browsers with everything in it, and declarations that need nothing but viem.
 */

const root = fileURLToPath(new URL('../../', import.meta.url))
const ENTRY = join(root, 'client/index.ts')

/** Replaces the directory by the package, ready for `npm pack`. */
export async function buildClient(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(join(directory, 'lib'), { recursive: true })
  const common: BuildOptions = {
    entryPoints: [ENTRY],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  }
  await build({ ...common, outfile: join(directory, 'lib/index.js'), external: ['viem', 'viem/*'] })
  await build({ ...common, outfile: join(directory, 'lib/browser.js'), minify: true })
  await copyPackageFiles('client', directory)
  for (const [path, text] of await declarations()) {
    const file = join(directory, 'lib/types', path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** The declarations that the client's own refer to, by their path from the root. */
async function declarations(): Promise<Map<string, string>> {
  const { program, emitted } = declarationsOf(ENTRY)
  const sources = new Map(
    program
      .getSourceFiles()
      .filter(({ isDeclarationFile }) => !isDeclarationFile)
      .map((source) => [source.fileName.slice(root.length), source] as const)
      .filter(([path]) => path.startsWith('interface/')),
  )
  const modules = await runningModules([...sources.keys()])
  const names = namedSchemas(program, sources, modules)
  for (const [path, source] of sources) {
    const text = flatTypes({ program, path, source, modules, names })
    emitted.set(path.replace(/\.ts$/, '.d.ts'), text)
  }
  return reachable(emitted, 'client/index.d.ts')
}

/** What the compiled modules export: their schemas say what each field means. */
async function runningModules(paths: readonly string[]): Promise<Modules> {
  const loaded = paths.map(async (path) => {
    const file = pathToFileURL(join(root, 'dist', path.replace(/\.ts$/, '.js')))
    return [path, (await import(file.href)) as Record<string, unknown>] as const
  })
  return new Map(await Promise.all(loaded))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildClient(join(root, 'dist/package'))
}
