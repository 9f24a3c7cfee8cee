package dist

import (
	"fmt"
	"path/filepath"
)

// What can be wrong with an output folder. All of it is the world's.

func foreignFolder(dir, name string) error {
	return fmt.Errorf("%s is not meshc's: it holds %s and no %s; choose another folder with -o, or empty this one", dir, name, markerName)
}

func damagedMarker(dir string, err error) error {
	return fmt.Errorf("%s is damaged (%w), so nothing in %s is known to be meshc's; remove the folder or choose another with -o", filepath.Join(dir, markerName), err, dir)
}

func otherMarker(dir string, format int) error {
	return fmt.Errorf("%s was written by another meshc (format %d, this one writes %d); remove it or choose another folder with -o", dir, format, markerFormat)
}

func danglingLink(dir string) error {
	return fmt.Errorf("%s is a link to a folder that does not exist", dir)
}

func notFolder(dir string) error { return fmt.Errorf("%s is not a folder", dir) }

func notWritable(dir string, err error) error {
	return fmt.Errorf("cannot write %s, nor beside it where the next output is made: %w", dir, err)
}

func notReplaceable(dir string, err error) error {
	return fmt.Errorf("cannot replace %s in one step: %w; if it is a mount point, choose a folder inside it with -o", dir, err)
}

func unknownNode(name string) error { return fmt.Errorf("the mesh has no node %q", name) }

func inTheWay(name string) error {
	return fmt.Errorf("%s is in the way: meshc did not write it, and does not replace it; move it elsewhere", name)
}

func busy(dir string) error {
	return fmt.Errorf("another meshc is writing in %s", dir)
}

func leftBehind(dir string, names []string) error {
	return fmt.Errorf("%s holds what somebody put into the output while it was replaced: %q", dir, names)
}
