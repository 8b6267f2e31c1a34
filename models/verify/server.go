package verify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"onebit/internal/bounded"
	"onebit/models/tokenizer"
)

// A Server is one on this machine with OpenAI's interface of completions, as
// llama-server's, which gives the likeliest tokens with their probabilities.
type Server struct {
	URL       string // http://localhost:8080
	Tokenizer *tokenizer.Tokenizer
	Top       int // likeliest tokens to ask for; 0: 20
}

const (
	topTokens   = 20
	mostReply   = 16 << 20
	serverWaits = 2 * time.Minute // for one token
)

// Answer asks for a text, position by position. Where the server wants no token ids,
// positions at which the text, cut there, has other tokens are left out.
func (s Server) Answer(ctx context.Context, t Text) (*Answers, error) {
	if err := onThisMachine(s.URL); err != nil {
		return nil, err
	}
	pieces := s.pieces()
	byText := false
	asked := Text{Tokens: t.Tokens, Instead: t.Instead}
	var rows []Row
	for _, at := range t.Asked {
		prefix := t.Tokens[:at+1]
		var reply *completion
		var err error
		if !byText {
			if reply, err = s.complete(ctx, prefix); err != nil {
				if len(rows) > 0 || ctx.Err() != nil {
					return nil, err
				}
				byText = true
			}
		}
		if byText {
			text, same := s.textOf(prefix)
			if !same {
				continue
			}
			if reply, err = s.complete(ctx, text); err != nil {
				return nil, err
			}
		}
		row, err := reply.row(pieces)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.URL, err)
		}
		asked.Asked, rows = append(asked.Asked, at), append(rows, row)
	}
	return &Answers{From: s.URL, Texts: []Text{asked}, Rows: [][]Row{rows}}, nil
}

// onThisMachine refuses servers elsewhere.
func onThisMachine(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is no address of a server: give http://localhost:PORT", address)
	}
	if host := u.Hostname(); host == "localhost" || net.ParseIP(host).IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is not on this machine: give http://localhost:PORT", address)
}

// pieces are the tokens by what they say; those that say the same are none.
func (s Server) pieces() map[string]int {
	all := make(map[string]int)
	for id := range s.Tokenizer.Vocab() {
		piece := s.Tokenizer.Decode([]int{id})
		if _, twice := all[piece]; twice {
			id = -1
		}
		all[piece] = id
	}
	return all
}

// textOf is what a text without its BOS says, and whether that has the same tokens.
func (s Server) textOf(prefix []int) (string, bool) {
	body := prefix
	if s.Tokenizer.AddBOS() && body[0] == s.Tokenizer.BOS() {
		body = body[1:]
	}
	text := s.Tokenizer.Decode(body)
	return text, len(body) > 0 && slices.Equal(s.Tokenizer.Encode(text, tokenizer.Options{AddSpecial: true}), prefix)
}

// complete asks for the token that follows a prompt, a text or tokens.
func (s Server) complete(ctx context.Context, prompt any) (*completion, error) {
	top := cmp.Or(s.Top, topTokens)
	body, err := json.Marshal(map[string]any{"prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": top, "n_probs": top})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, serverWaits)
	defer cancel()
	address := strings.TrimSuffix(s.URL, "/") + "/v1/completions"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := bounded.Read(response.Body, mostReply)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %.200q", address, response.Status, text)
	}
	var reply completion
	if err := json.Unmarshal(text, &reply); err != nil {
		return nil, fmt.Errorf("%s: its answer is no JSON of a completion: %w", address, err)
	}
	return &reply, nil
}

// A completion is what a server answers. Likeliest tokens come by their text, as
// OpenAI's do, or as a list, as llama-server's.
type completion struct {
	Choices []struct {
		LogProbs struct {
			Top     []map[string]float32 `json:"top_logprobs"`
			Content []struct {
				Top []likely `json:"top_logprobs"`
			} `json:"content"`
		} `json:"logprobs"`
	} `json:"choices"`
}

type likely struct {
	ID      *int    `json:"id"`
	Token   string  `json:"token"`
	LogProb float32 `json:"logprob"`
}

// row is the distribution that a completion tells of.
func (c *completion) row(pieces map[string]int) (Row, error) {
	var all []likely
	if len(c.Choices) > 0 {
		said := c.Choices[0].LogProbs
		if len(said.Content) > 0 {
			all = said.Content[0].Top
		}
		if len(said.Top) > 0 {
			for token, p := range said.Top[0] {
				all = append(all, likely{Token: token, LogProb: p})
			}
		}
	}
	if len(all) == 0 {
		return Row{}, errors.New("it answers without the probabilities of likely tokens (top_logprobs)")
	}
	row := Row{IDs: []int{}}
	for _, l := range all {
		id, known := pieces[l.Token]
		if l.ID != nil {
			id, known = *l.ID, true
		}
		if known && id >= 0 && id < len(pieces)*2 && !slices.Contains(row.IDs, id) {
			row.IDs, row.LogProbs = append(row.IDs, id), append(row.LogProbs, l.LogProb)
		}
	}
	if len(row.IDs) == 0 {
		return Row{}, errors.New("none of the tokens that it names is one of the model's: it runs another model, or another tokenizer")
	}
	return row, nil
}
