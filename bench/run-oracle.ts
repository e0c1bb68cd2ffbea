import { readFileSync } from 'node:fs'
import { NotAWorkload, readOracleFile } from './oracle-file.js'
import { oracleLines, runOracle } from './oracle.js'

/** Runs the pure step over the workload file that is the argument, and prints throughput and digest. */
const [path = ''] = process.argv.slice(2)
try {
  for (const line of oracleLines(runOracle(readOracleFile(readFileSync(path))))) console.log(line)
} catch (error) {
  const isTheFiles = error instanceof NotAWorkload || (error as NodeJS.ErrnoException).code
  if (!isTheFiles) throw error
  console.error(`${path}: ${(error as Error).message}`)
  process.exitCode = 1
}
