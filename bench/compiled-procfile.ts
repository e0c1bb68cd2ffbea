import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inProject } from '../devnet/launcher/binaries.js'

/**
 * Writes to the directory a Procfile whose processes run the compiled files below `dist/` instead of their bundles, for tools
 * that tell the files of a program apart. Resolves with its path, for PROCFILE.
 */
export async function writeCompiledProcfile(dir: string): Promise<string> {
  const text = await readFile(inProject('Procfile'), 'utf8')
  const path = join(dir, 'Procfile')
  await writeFile(path, text.replaceAll(' bundle/', ' dist/'))
  return path
}
