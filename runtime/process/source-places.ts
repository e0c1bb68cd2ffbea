import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { dirname, resolve } from 'node:path'

/** A place in a compiled file or a bundle of this project, as stacks name it. */
const PLACE = /(?:file:\/\/)?(\/[^\s():]*\/(?:dist|bundle)\/[^\s():]+\.js):(\d+):(\d+)/g
const MAPS_KEPT = 64

const maps = new Map<string, SourceMap | undefined>()

/**
 * A stack with the places of the TypeScript sources for those of the compiled files. A map is read when a stack names its
 * file. Node's own `--enable-source-maps` reads the maps of all modules at the start and keeps them, which costs each process
 * time and memory.
 */
export function withSourcePlaces(stack: string): string {
  return stack.replace(PLACE, (place, file: string, line: string, column: string) => {
    const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (entry === undefined || !('originalSource' in entry)) return place
    const source = resolve(dirname(file), entry.originalSource)
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  })
}

function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) {
    if (maps.size >= MAPS_KEPT) maps.clear()
    maps.set(file, readMap(`${file}.map`))
  }
  return maps.get(file)
}

/** Undefined where there is none: the stack then keeps the compiled place. */
function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload)
  } catch {
    return undefined
  }
}
