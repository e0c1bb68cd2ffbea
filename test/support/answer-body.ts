/** The JSON object of an answer; anything else fails the test. */
export async function readBody(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>
}
