/**
 * Reports the outcome of a write, even if the saved data has replaced the component that started it: React Query then drops the callbacks of
 * `mutate`. Navigation stays in `mutate`, because a user who has moved on must not be moved again.
 */
export function reported<T>(
  written: Promise<T>,
  onSuccess: (result: T) => void,
  // A confirmation dialog shows the error of its write itself.
  onError: (error: Error) => void = () => {},
): void {
  void written.then(onSuccess, onError)
}
