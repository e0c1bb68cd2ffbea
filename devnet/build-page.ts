import { build, type BuildOptions, type Plugin } from 'esbuild'
import { copyFile, mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/**
 * Bundles the pages into `dist/web`: the terminal's script, style sheet and document, the chart that the script loads after the first
 * paint, and the scripts and the style of the documents.
 */

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const options: BuildOptions = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none',
  sourcemap: false,
  logLevel: 'warning',
  jsx: 'automatic',
  jsxImportSource: 'preact',
}

/**
 * The chart stays a file of its own beside the script. Splitting by esbuild would also part the libraries: what they load on
 * demand, and this page never does, would be loaded first.
 */
const chartApart: Plugin = {
  name: 'chart apart',
  setup(page) {
    page.onResolve({ filter: /\/draw-chart\.js$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './draw-chart.js', external: true } : undefined,
    )
    // What a library would load on demand stays outside: to bundle it would keep all that it reaches from being left out.
    page.onResolve({ filter: /.*/ }, ({ kind, path, importer }) =>
      kind === 'dynamic-import' && importer.includes('/node_modules/')
        ? { path, external: true }
        : undefined,
    )
  },
}

/** Modules of these rooms only declare: what the page uses nothing of, such as the table of refusals, is left out of it. */
const DECLARATIONS = ['core/', 'interface/'].map(at)

const leaveOutUnused: Plugin = {
  name: 'leave out unused',
  setup(page) {
    page.onResolve({ filter: /^\.{1,2}\// }, async ({ path, pluginData, ...from }) => {
      if (pluginData === leaveOutUnused) return undefined
      const found = await page.resolve(path, { ...from, pluginData: leaveOutUnused })
      const only = DECLARATIONS.some((room) => found.path.startsWith(room))
      return only ? { ...found, sideEffects: false } : found
    })
  },
}

await mkdir(at('dist/web'), { recursive: true })
await build({
  ...options,
  entryPoints: [at('web/main.tsx'), at('web/style.css')],
  outdir: at('dist/web'),
  plugins: [chartApart, leaveOutUnused],
})
await build({
  ...options,
  entryPoints: {
    'draw-chart': at('web/views/draw-chart.ts'),
    'docs/main': at('web/docs/main.ts'),
    'docs/find': at('web/docs/find.ts'),
    'docs/interface': at('web/docs/interface.css'),
  },
  outdir: at('dist/web'),
})
await copyFile(at('web/index.html'), at('dist/web/index.html'))
