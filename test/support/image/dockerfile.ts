/** A line of a Dockerfile that is carried out, with its words. */
export interface Instruction {
  readonly name: string
  readonly text: string
}

export interface Stage {
  readonly name: string
  /** An image, or the name of an earlier stage. */
  readonly from: string
  readonly instructions: readonly Instruction[]
}

/** A line of a Dockerfile or of a Compose file that could not be carried out as Docker would. */
export class UnknownLine extends Error {
  override readonly name = 'UnknownLine'
}

/** The stages of a Dockerfile whose instructions are one line each, or go on with a backslash. Throws UnknownLine. */
export function readStages(text: string): Stage[] {
  const lines = text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const stages: { name: string; from: string; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? []
    if (name === '') throw new UnknownLine(`not an instruction: ${line}`)
    const [from = '', as, stage, ...more] = rest.split(/ +/)
    if (name === 'FROM') {
      if (as !== 'AS' || stage === undefined || more.length > 0)
        throw new UnknownLine(`a stage without a name: ${line}`)
      stages.push({ name: stage, from, instructions: [] })
    } else {
      const last = stages.at(-1)
      if (last === undefined) throw new UnknownLine(`a line before the first FROM: ${line}`)
      last.instructions.push({ name, text: rest })
    }
  }
  return stages
}
