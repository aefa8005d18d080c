// Command releasenotes prints the section of CHANGELOG.md that belongs to a tag. It fails if the tag
// is not that of client.Version, or if the changelog has no section or an empty one for it.
package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/sellside-sdk/sellside-go/client"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: releasenotes TAG")
		os.Exit(2)
	}
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err == nil {
		var text string
		if text, err = notes(os.Args[1], client.Version, string(changelog)); err == nil {
			fmt.Print(text)
			return
		}
	}
	fmt.Fprintln(os.Stderr, "releasenotes:", err)
	os.Exit(1)
}

// link matches the definition of a link, which ends the last section.
var link = regexp.MustCompile(`^\[[^\]]+\]: `)

// notes returns the text below the heading of a version, such as "## [0.1.0] - 2026-12-31".
func notes(tag, version, changelog string) (string, error) {
	if tag != "v"+version {
		return "", fmt.Errorf("compare the tag (%s) with client.Version (%s): change one of them", tag, version)
	}
	var section strings.Builder
	found := false
	for line := range strings.Lines(changelog) {
		if strings.HasPrefix(line, "## ") || link.MatchString(line) {
			found = strings.HasPrefix(line, "## ["+version+"]")
			continue
		}
		if found {
			section.WriteString(line)
		}
	}
	text := strings.TrimSpace(section.String())
	if text == "" {
		return "", fmt.Errorf("find section of CHANGELOG.md (## [%s]): rename Unreleased before the release", version)
	}
	return text + "\n", nil
}
