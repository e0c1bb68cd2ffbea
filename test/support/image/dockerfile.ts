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

/** The stages of a Dockerfile whose instructions are one line each, or go on with a backslash. */
export function readStages(text: string): Stage[] {
  const lines = text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  const stages: { name: string; from: string; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? []
    if (name === '') throw new Error(`not an instruction: ${line}`)
    const [from = '', as, stage] = rest.split(/ +/)
    if (name === 'FROM') {
      if (as !== 'AS' || stage === undefined) throw new Error(`a stage without a name: ${line}`)
      stages.push({ name: stage, from, instructions: [] })
    } else stages.at(-1)?.instructions.push({ name, text: rest })
  }
  return stages
}
