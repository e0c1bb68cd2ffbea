import { parseArgs, type ParseArgsConfig } from 'node:util'

/** The words that a person has typed after the command. */
export const typedWords = (): readonly string[] => process.argv.slice(2)

/** Prints the usage and ends the process with exit code 0 if the command line asks for help. */
export function endAtHelp(usage: string): void {
  if (!typedWords().some((word) => word === '--help' || word === '-h')) return
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}

/**
 * The options of a command that people type. Asked for help it prints the usage and ends the process with exit code 0; an option
 * that it does not know it names, with the usage, and ends the process with exit code 2.
 */
export function readCommandLine<Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  endAtHelp(usage)
  try {
    return parseArgs(config)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}\n`)
    process.exit(2)
  }
}
