// Package cli is what the programs in cmd share: how a command line runs and ends, and how
// its tables, files and progress are written.
//
// Data goes to standard output, progress and warnings to standard error. The exit status is
// 0 if all was done, 1 if something failed or the answer is no, and 2 if the command line is
// wrong or nothing could be judged; an EndError says which.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"onebit/internal/mmap"
	"onebit/internal/term"
)

// Main runs a program until its end, of which a signal can ask.
func Main(root *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	// The first signal asks for a clean end; unregistering lets a second kill.
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, root, os.Stdin, os.Stdout, os.Stderr, os.Args[1:]))
}

// ends are the signals that ask for an end. A closed terminal's is one, unless
// nohup has it ignored.
func ends() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// Run runs a command line and returns the exit status.
func Run(ctx context.Context, root *cobra.Command, stdin io.Reader, stdout, stderr io.Writer, args []string) int {
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd := root
	err := mmap.Guard(func() (err error) {
		cmd, err = root.ExecuteContextC(ctx)
		return err
	})
	var wrong *usageError
	var end *EndError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &end) && end.Err == nil:
		return end.Status
	case errors.As(err, &wrong):
		fmt.Fprintf(stderr, "%s: %s\n\n%s", root.Name(), term.Lines(err.Error()), usage(cmd))
		return 2
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted: %s\n", root.Name(), term.Lines(strings.TrimSuffix(err.Error(), ": "+context.Canceled.Error())))
	default:
		fmt.Fprintf(stderr, "%s: %s\n", root.Name(), term.Lines(err.Error()))
	}
	if end != nil {
		return end.Status
	}
	return 1
}

// usage lists the verbs; of one verb it is short, so that a message above it
// stays in sight.
func usage(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return cmd.UsageString()
	}
	return fmt.Sprintf("Usage:\n  %s\n\n%s --help lists the flags.\n", cmd.UseLine(), cmd.CommandPath())
}

// A Verb constructs a command.
type Verb func() *cobra.Command

// NewRoot returns the command of a program, without which no verb runs.
func NewRoot(use, short string, verbs ...Verb) *cobra.Command {
	root := &cobra.Command{
		Use:           use,
		Short:         short,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return Usagef("no verb given")
		},
	}
	root.SuggestionsMinimumDistance = 2 // letters of a verb that may be wrong
	root.SetHelpCommand(newHelp())
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpFunc(printHelp)
	wrapFlags(root, HelpWidth)
	for _, verb := range verbs {
		root.AddCommand(verb())
	}
	return root
}

// HelpWidth is the columns that help has where no terminal says otherwise: those of the
// smallest usual one.
const HelpWidth = 80

// Help has no lines that are shorter, or longer, than people read.
const leastHelp, mostHelp = 40, 120

func helpWidth(w io.Writer) int {
	if width := TerminalWidth(w); width > 0 {
		return max(leastHelp, min(width, mostHelp))
	}
	return HelpWidth
}

// printHelp prints a verb's text and its usage, in the columns that there are.
func printHelp(cmd *cobra.Command, _ []string) {
	out := cmd.OutOrStdout()
	width := helpWidth(out)
	wrapFlags(cmd.Root(), width)
	fmt.Fprintf(out, "%s\n\n%s", filled(cmp.Or(cmd.Long, cmd.Short), width), cmd.UsageString())
}

// wrapFlags has the flags of all verbs explained in a number of columns.
func wrapFlags(root *cobra.Command, width int) {
	template := new(cobra.Command).UsageTemplate()
	root.SetUsageTemplate(strings.ReplaceAll(template, "Flags.FlagUsages", fmt.Sprintf("Flags.FlagUsagesWrapped %d", width)))
}

// filled has a text's paragraphs in lines of a width. Indented lines are lists and
// command lines, and stay.
func filled(text string, width int) string {
	var b strings.Builder
	column := 0 // where a paragraph's line is; 0: there is none
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.TrimLeft(line, " \t") != line {
			b.WriteString(strings.Repeat("\n", min(column, 1)) + strings.TrimRight(line, " \n") + "\n")
			column = 0
			continue
		}
		for _, word := range words {
			letters := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+letters > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += letters
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// newHelp replaces cobra's, which succeeds on a verb that does not exist.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Explain a verb",
		RunE: func(cmd *cobra.Command, args []string) error {
			verb, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownVerb(cmd.Root(), strings.Join(args, " "))
			}
			verb.InitDefaultHelpFlag()
			return verb.Help()
		},
	}
}

// wrongFlag says what is wrong with a flag, if the verb is not: of one that does not
// exist the root's flags are parsed.
func wrongFlag(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 {
		return unknownVerb(cmd, args[0])
	}
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return Usagef("%w", err)
	}
	flag := value.GetFlag()
	want, known := wantedValues[strings.TrimSuffix(flag.Value.Type(), "Slice")]
	if !known {
		return Usagef("--%s %s: %w", flag.Name, term.Quote(value.GetValue()), value.Unwrap())
	}
	return Usagef("--%s %s: give %s", flag.Name, term.Quote(value.GetValue()), want)
}

// wantedValues say what a flag takes, by its type.
var wantedValues = map[string]string{
	"int": "a whole number", "uint64": "a whole number from 0 on", "float64": "a number", "duration": "a length of time such as 20ms or 2m", "bool": "true or false",
}

func unknownVerb(root *cobra.Command, verb string) error {
	if near := root.SuggestionsFor(verb); len(near) > 0 {
		return Usagef("unknown verb %q, did you mean %q?", verb, near[0])
	}
	return Usagef("unknown verb %q", verb)
}

// An EndError is an end with an exit status of its own.
type EndError struct {
	Status int
	Err    error // nil if the output has said it all
}

func (e *EndError) Error() string { return fmt.Sprint(e.Err) }
func (e *EndError) Unwrap() error { return e.Err }

// A usageError is a command line that the program does not understand.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Usagef makes the error of a wrong command line.
func Usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// ExactArgs demands one argument for each name.
func ExactArgs(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return Usagef("%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return Usagef("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}
