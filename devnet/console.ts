const STILL_AT_IT_AFTER_MS = 2_000

/** What the person who started the launcher reads. */
export interface Console {
  say(line: string): void
  /** Does a piece of work and says what it was and how long it took; what it throws passes through. */
  step<T>(what: string, work: () => Promise<T>): Promise<T>
}

/** A console that writes whole lines. */
export function createConsole(writeLine: (line: string) => void): Console {
  return {
    say: writeLine,
    step: async (what, work) => {
      const begun = performance.now()
      const timer = setTimeout(() => writeLine(`  ${what} ...`), STILL_AT_IT_AFTER_MS)
      try {
        const result = await work()
        writeLine(`  ${what}: ${inWords(performance.now() - begun)}`)
        return result
      } catch (error) {
        writeLine(`  ${what}: failed after ${inWords(performance.now() - begun)}`)
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

function inWords(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}
