import { expect } from 'chai'
import { execFileSync } from 'node:child_process'

const module = new URL('../../../runtime/process/log.js', import.meta.url).href

/** What a process prints whose body is `code`, with the output of the log as `output`. */
const printed = (code: string): string => {
  const script = `import { createLogOutput } from ${JSON.stringify(module)}
const output = createLogOutput()
${code}`
  return execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
}

describe('where the log goes', () => {
  it('keeps the lines of one turn until its end, in order', () => {
    const code = `
output.write('a\\n')
output.write('b\\n')
process.stdout.write('first\\n')
setImmediate(() => setImmediate(() => process.stdout.write('last\\n')))`
    expect(printed(code)).to.equal('first\na\nb\nlast\n')
  })

  it('loses nothing when the process exits in that turn', () => {
    expect(printed(`output.write('a\\n'); process.exit(0)`)).to.equal('a\n')
  })
})
