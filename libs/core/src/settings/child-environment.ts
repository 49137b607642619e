/** This process's environment with additions, for a process that it starts: what is added shows in that process alone. */
export function childEnvironment(additions: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...additions }
}

/** A variable for a child process that the operator has not set for this one. */
export function unlessSet(name: string, value: string): Record<string, string> {
  return process.env[name] ? {} : { [name]: value }
}
