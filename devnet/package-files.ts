import { copyFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** What the packages of the client and of the CCXT class are made from in the same way. */

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Copies what the folder says of its package, and the licence. */
export async function copyPackageFiles(folder: string, directory: string): Promise<void> {
  for (const name of ['package.json', 'README.md']) {
    await copyFile(join(root, folder, name), join(directory, name))
  }
  await copyFile(join(root, 'LICENSE'), join(directory, 'LICENSE'))
}

/** The module and all that it imports, checked by the project's own options, and their declarations by their path from the root. */
export function declarationsOf(entry: string): {
  readonly program: ts.Program
  readonly emitted: Map<string, string>
} {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  delete options.tsBuildInfoFile
  const program = ts.createProgram([entry], {
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
  program.emit(undefined, (path, text) => emitted.set(path.slice('/out/'.length), text))
  return { program, emitted }
}

/** The declarations that the first one refers to, and those that these refer to. */
export function reachable(files: ReadonlyMap<string, string>, first: string): Map<string, string> {
  const found = new Map<string, string>()
  const visit = (path: string): void => {
    const text = files.get(path)
    if (text === undefined || found.has(path)) return
    found.set(path, text)
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (fileName.startsWith('.')) {
        visit(join(dirname(path), fileName.replace(/\.js$/, '.d.ts')))
      }
    }
  }
  visit(first)
  return found
}
