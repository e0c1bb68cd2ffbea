import { build } from 'esbuild'
import { copyFile, mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Bundles the pages into `dist/web`: the market page's script, style sheet and document, and the script of the documents. */

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

await mkdir(at('dist/web'), { recursive: true })
await build({
  entryPoints: [at('web/main.ts'), at('web/docs/main.ts')],
  outdir: at('dist/web'),
  ...{ bundle: true, minify: true, format: 'esm', target: 'es2022', legalComments: 'none' },
  ...{ sourcemap: false, logLevel: 'warning' },
})
for (const name of ['index.html', 'style.css'])
  await copyFile(at(`web/${name}`), at(`dist/web/${name}`))
