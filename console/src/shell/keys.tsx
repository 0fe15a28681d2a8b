import styles from './palette.module.css'

/** A shortcut as keys, one after another. */
export const Keys = ({ keys }: { keys: string }) => (
  <span className={styles.keys}>
    {keys.split(' ').map((key, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a sequence may repeat a key
      <kbd key={place}>{key}</kbd>
    ))}
  </span>
)
