module github.com/waymark-rag/waymark

go 1.26
