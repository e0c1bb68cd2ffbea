import { build, type BuildOptions } from 'esbuild'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyPackageFiles, declarationsOf, reachable } from './package-files.js'

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
  await copyPackageFiles('ccxt', directory)
}

/** The declarations of the classes by file name: they refer to each other and to CCXT. */
function declarations(): Map<string, string> {
  const { emitted } = declarationsOf(ENTRY)
  const all = reachable(emitted, 'ccxt/index.d.ts')
  return new Map([...all].map(([path, text]) => [basename(path), text]))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildCcxt(join(root, 'dist/package-ccxt'))
}
