import { spawn } from 'node:child_process'

/** Processes that use a processor each; the returned function ends them. They end with this process as well. */
export function burnProcessors(count: number): () => void {
  const burners = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  )
  const end = () => burners.forEach((burner) => burner.kill('SIGKILL'))
  process.once('exit', end)
  return () => {
    process.removeListener('exit', end)
    end()
  }
}
