import { join, relative } from 'node:path'
import ts from 'typescript'

/** Says of changed sources, by path, a line for each problem that the compiler has with them. */
export type Compile = (changed: ReadonlyMap<string, string>) => string[]

/**
 * A compiler of the tree that takes changed texts for some of its sources. Only these are checked, not the sources that
 * use them. What it has read, it keeps.
 */
export function createCompile(root: string): Compile {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent({ ...config.config, include: [] }, ts.sys, root)
  const settings = { ...options, incremental: false, noEmit: true }
  delete settings.tsBuildInfoFile
  const onDisk = ts.createCompilerHost(settings)
  const kept = new Map<string, ts.SourceFile | undefined>()
  let last: ts.Program | undefined

  return (changed) => {
    const host: ts.CompilerHost = {
      ...onDisk,
      getSourceFile: (path, languageVersion) => {
        const text = changed.get(relative(root, path))
        if (text !== undefined) return ts.createSourceFile(path, text, languageVersion)
        if (!kept.has(path)) kept.set(path, onDisk.getSourceFile(path, languageVersion))
        return kept.get(path)
      },
    }
    const sources = [...changed.keys()].map((path) => join(root, path))
    const program = ts.createProgram(sources, settings, host, last)
    last = program
    return sources
      .map((path) => program.getSourceFile(path))
      .flatMap((source) => [
        ...program.getSyntacticDiagnostics(source),
        ...program.getSemanticDiagnostics(source),
      ])
      .map((problem) => ts.formatDiagnostic(problem, host).trim())
  }
}
