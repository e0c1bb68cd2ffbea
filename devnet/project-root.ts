import { fileURLToPath } from 'node:url'

/** Absolute path of a file of the source tree, given relative to the project's root; call from compiled code only. */
export function inProject(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
