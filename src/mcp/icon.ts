/** icons/icon-64.png, so that no host has to fetch anything to show it. */
export const icon = {
  src: `data:image/png;base64,${[
    'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAACHklEQVR42u2bv0vDQBTH80ccjv4HN3V0ciiCk3hoRhdFMrhoR90F',
    'qYP6BwgF6SCCP8AOXSqFCILSqYiLixYqSEEFEcOTVxKI2tjkGtvL3Qt8IeTH5X0/uXt3wz3LinEwwfNM8CITvM4EbzPBPSY4KCbP',
    'j63ux5q3Bj2Y4A4TvKmg2bjC2B0Z4zmfJGgi9JKLa95WtIunMUTsOOZBc9l/dXvPAABez+Gg2ZjvmxN6ZXswTE4YQNNAAM3wIidx',
    'A5OFeThxq9B5fYP3j8+RCL+NMWAskhDylr9qSmx+lMZ7gZCEUJRKfkhdFfOBMCapZOivnxO9qNLfD/cCCQBtS2buV818IJk1gSWT',
    'PDQCAAQgLQCtpw4cVi5hr1T5V+E38FvKARiG+TAE5QAMy3wg6gGUA2gWIAAEQGUAV41bODqvpyJsK1MAMOjFwlaqwjYzA2BlfSd1',
    'ANgmAaAhQEmQpkECQAAyCGC/fAqzC6swNefEEj6L72gB4MK9iW38p/DdzAPAPykLIGkvoB5AOYBmAQJAALICoPbQgO1GuSs8NwrA',
    'Um0TxkrT34TXjACw5u7+Mh8I72kN4PHlOdJ8IHxGWwA41vsBGCQfKA/gun3XFwA+o3UOmDhejjSP97RPgmf3biQAvGfENIjj3K5u',
    'wPjBTFd4nsZaQBaA8ZukjN8mZ/xGSeO3ypq9Wdr47fJUMEElM1Q0RWVzVDhJpbNUPG1s+fwXwA8QzxmwVtkAAAAASUVORK5CYII=',
  ].join('')}`,
  mimeType: 'image/png',
  sizes: ['64x64'],
};
