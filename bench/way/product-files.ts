import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The project's root. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** The compiler's output; it mirrors the source tree. */
const DIST = new URL('../../', import.meta.url).href

/**
 * The rooms that are not part of the product. They are listed, instead of the product's, so that a new room counts as
 * part of the product by default.
 */
const NOT_PRODUCT = new Set(['bench', 'client', 'devnet', 'examples', 'test'])
const NOT_SOURCES = new Set(['bundle', 'dist', 'docs', 'node_modules', 'var'])

/** The top-level folder of a path from the root. */
export const roomOf = (path: string): string => path.split('/', 1)[0] ?? ''

/** The source of a compiled module by its URL; undefined for modules outside the product. */
export function sourceOf(url: string): string | undefined {
  if (!url.startsWith(DIST) || !url.endsWith('.js')) return undefined
  const path = url.slice(DIST.length).replace(/\.js$/, '.ts')
  return path.includes('/') && !NOT_PRODUCT.has(roomOf(path)) ? path : undefined
}

/** Every TypeScript file of the product, by its path from the root, sorted. */
export function productFiles(): string[] {
  const rooms = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .filter((name) => !NOT_PRODUCT.has(name) && !NOT_SOURCES.has(name))
  return rooms.flatMap((room) => filesIn(room)).sort()
}

function filesIn(folder: string): string[] {
  return readdirSync(`${ROOT}${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return filesIn(path)
    return path.endsWith('.ts') ? [path] : []
  })
}

export const readSource = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8')

/** Number of lines of a file, without trailing empty ones. */
export const linesOf = (path: string): number => readSource(path).trimEnd().split('\n').length

/** The compiled text of a source. */
export const readCompiled = (path: string): string =>
  readFileSync(fileURLToPath(new URL(path.replace(/\.ts$/, '.js'), DIST)), 'utf8')
