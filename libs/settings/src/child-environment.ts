/** This process's environment with additions, for a process that it starts: what is added shows in that process alone. */
export function childEnvironment(additions: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...additions }
}
