import { build } from 'esbuild'
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Makes the package of the server for assistants: `mcp/package.json` next to `lib/main.js`, which has everything in it. */

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Replaces the directory by the package, ready for `npm pack`. */
export async function buildMcp(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(join(directory, 'lib'), { recursive: true })
  const outfile = join(directory, 'lib/main.js')
  await build({
    entryPoints: [join(root, 'mcp/main.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'node',
    outfile,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  await chmod(outfile, 0o755)
  for (const name of ['package.json', 'README.md']) {
    await copyFile(join(root, 'mcp', name), join(directory, name))
  }
  await copyFile(join(root, 'LICENSE'), join(directory, 'LICENSE'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildMcp(join(root, 'dist/package-mcp'))
}
