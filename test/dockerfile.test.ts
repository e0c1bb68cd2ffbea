import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { inProject } from '../devnet/launcher/binaries.js'
import { readStages, type Stage } from './support/image/dockerfile.js'

const text = readFileSync(inProject('Dockerfile'), 'utf8')
const stages = readStages(text)
const stage = (name: string): Stage => {
  const found = stages.find((each) => each.name === name)
  if (found === undefined) throw new Error(`the Dockerfile has no stage ${name}`)
  return found
}
const last = stage('venue')
const valuesOf = ({ instructions }: Stage, name: string) =>
  instructions.filter((each) => each.name === name).map((each) => each.text)

describe('the Dockerfile', () => {
  it('begins with a Debian of a digest and of packages of the same day, and ends without a compiler, as no superuser', () => {
    const { from, instructions } = stage('base')
    const [, day = ''] = /^debian:trixie-(\d{8})-slim@sha256:[0-9a-f]{64}$/.exec(from) ?? []
    expect(day, from).to.not.equal('')
    const [archive] = instructions
    expect(archive?.text).to.include(`http://snapshot.debian.org/archive/debian/${day}T`)
    expect(stages.map((each) => each.from).slice(1)).to.deep.equal(['base', 'base'])
    const installed = [...valuesOf(stage('base'), 'RUN'), ...valuesOf(last, 'RUN')].join()
    expect(installed).to.not.match(/\b(g\+\+|npm|make|python3)\b/)
    expect(valuesOf(last, 'USER')).to.deep.equal(['951:951'])
    for (const name of ['HEALTHCHECK', 'ENTRYPOINT', 'LABEL'])
      expect(valuesOf(last, name), name).to.have.length(1)
    expect(text).to.not.match(/^ADD |curl|wget/m)
  })

  it('sends no file to Docker that a machine has made', () => {
    const left = readFileSync(inProject('.dockerignore'), 'utf8').split('\n')
    const made = readFileSync(inProject('.gitignore'), 'utf8').split('\n')
    const named = made
      .filter((line) => /^\/?[.a-z]/.test(line))
      .map((line) => line.replace(/^\//, ''))
    expect(left).to.include.members(named.filter((line) => !line.includes('bench/results')))
  })
})
